# The library, in as many flavours as something needs: plain, with planted faults, sanitized.
set(holdfast_globs ${PROJECT_SOURCE_DIR}/src/*.cpp ${PROJECT_SOURCE_DIR}/src/core/*.cpp
  ${PROJECT_SOURCE_DIR}/src/io/*.cpp)
foreach(folder IN LISTS holdfast_backends)
  list(APPEND holdfast_globs ${PROJECT_SOURCE_DIR}/src/backend/${folder}/*.cpp)
endforeach()
if(HOLDFAST_WITH_REDIS)
  list(APPEND holdfast_globs ${PROJECT_SOURCE_DIR}/src/io/network/*.cpp)
endif()
file(GLOB holdfast_sources CONFIGURE_DEPENDS ${holdfast_globs})
list(APPEND holdfast_sources ${holdfast_redis_scripts_file})

# What everything of this project is compiled with; never handed to users of the library. GCC 12
# sees overlapping copies in std::string's operator+ that are none (its bug 105651).
add_library(holdfast_strict INTERFACE)
target_compile_options(holdfast_strict INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  -Wno-missing-field-initializers $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${HOLDFAST_WERROR}>:-Werror>)

# For code that looks inside the library: tests, testkit, fuzz targets.
add_library(holdfast_inside INTERFACE)
target_include_directories(holdfast_inside INTERFACE
  ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
target_compile_definitions(holdfast_inside INTERFACE ${holdfast_definitions})
target_link_libraries(holdfast_inside INTERFACE $<BUILD_INTERFACE:holdfast_strict>)

# holdfast_flavour(<target> [FOR_TESTS] [SANITIZE <sanitizer>...] [DEFINES <macro>...])
# What links to a flavour is compiled with its sanitizers and macros too. Every flavour is built in
# few pieces, which is four times as fast, and the plain one in one: calls between cohort, slot and
# claim are inlined then, a seventh of an uncontended cycle. Warnings are the plain one's matter.
function(holdfast_flavour target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "FOR_TESTS" "" "SANITIZE;DEFINES")
  add_library(${target} STATIC ${holdfast_sources})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_definitions(${target} PRIVATE ${holdfast_definitions} PUBLIC ${arg_DEFINES})
  target_link_libraries(${target} PUBLIC Threads::Threads)
  if(HOLDFAST_WITH_REDIS)
    target_link_libraries(${target}
      PRIVATE $<BUILD_INTERFACE:Boost::headers> OpenSSL::SSL PkgConfig::hiredis)
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
  if(arg_FOR_TESTS)
    target_compile_options(${target} PRIVATE -O1 -w)
  else()
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 0)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:holdfast_strict>)
  endif()
  set(sanitizers ${HOLDFAST_SANITIZE} ${arg_SANITIZE})
  if(sanitizers)
    list(JOIN sanitizers "," joined)
    target_compile_options(${target} PUBLIC -fsanitize=${joined} -fno-sanitize-recover=all
      -fno-omit-frame-pointer)
    if(thread IN_LIST sanitizers)  # it does not know the fences of Asio; locks stand beside them
      target_compile_options(${target} PUBLIC $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
    endif()
    target_link_options(${target} PUBLIC -fsanitize=${joined})
  endif()
endfunction()

holdfast_flavour(holdfast)
add_library(holdfast::holdfast ALIAS holdfast)
if(HOLDFAST_TESTS)
  holdfast_flavour(holdfast_mutants FOR_TESTS DEFINES HOLDFAST_MUTANTS)
endif()
if(HOLDFAST_TESTS AND HOLDFAST_SANITIZED_TESTS)
  holdfast_flavour(holdfast_asan FOR_TESTS SANITIZE address undefined)
  holdfast_flavour(holdfast_tsan FOR_TESTS SANITIZE thread)
endif()
