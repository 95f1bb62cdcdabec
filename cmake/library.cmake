# The library, in as many flavours as something needs: plain, with planted faults, sanitized.
set(holdfast_globs ${PROJECT_SOURCE_DIR}/src/*.cpp ${PROJECT_SOURCE_DIR}/src/io/*.cpp)
if(HOLDFAST_WITH_NETWORK)
  list(APPEND holdfast_globs ${PROJECT_SOURCE_DIR}/src/io/network/*.cpp
    ${PROJECT_SOURCE_DIR}/src/io/reactor/*.cpp)
endif()
file(GLOB holdfast_sources CONFIGURE_DEPENDS ${holdfast_globs})
foreach(folder IN ITEMS base seam claim cohort api multi guards LISTS holdfast_backend_folders)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp)
  list(APPEND holdfast_sources ${found})
endforeach()
# In pieces of their own: a program that does not call the C API links none of it. Where everything
# is one unit, so is that.
file(GLOB holdfast_c_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/c/*.cpp)
if(NOT CMAKE_UNITY_BUILD)
  set_source_files_properties(${holdfast_c_sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endif()
list(APPEND holdfast_sources ${holdfast_c_sources})
if(NOT HOLDFAST_WITH_MEMORY)
  list(FILTER holdfast_sources EXCLUDE REGEX "/src/guards/memory_store[.]cpp$")
endif()
list(APPEND holdfast_sources ${holdfast_redis_scripts_files})

include(cmake/version.cmake)

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
  ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated)
target_compile_definitions(holdfast_inside INTERFACE ${holdfast_definitions})
target_link_libraries(holdfast_inside INTERFACE $<BUILD_INTERFACE:holdfast_strict>)

# What of a shared library is seen from outside: the public headers' names, and only those.
function(holdfast_shared_interface target)
  set(abi ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})  # docs/compatibility.md
  set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${abi})
  set(map ${PROJECT_BINARY_DIR}/generated/holdfast.map)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/holdfast.map.in ${map} @ONLY)
  target_link_options(${target} PRIVATE -Wl,--version-script=${map})
  # A check for this project. Clang links a sanitizer's runtime into programs alone, so a sanitized
  # library has undefined names, and a project around this one may sanitize in any way it likes.
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  if(PROJECT_IS_TOP_LEVEL AND NOT HOLDFAST_SANITIZE
      AND NOT "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}" MATCHES "-fsanitize")
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
  # Nobody replaces our functions from outside, so calls among them may be inlined.
  target_compile_options(${target} PRIVATE -fno-semantic-interposition)
endfunction()

# holdfast_flavour(<target> [SHARED] [FOR_TESTS] [SANITIZE <sanitizer>...] [DEFINES <macro>...])
# What links to a flavour is compiled with its sanitizers and macros too. Those for tests are built
# in three pieces, which takes half the time of eighteen, and those that are shipped in one: calls
# between cohort, slot and claim are inlined then, a seventh of an uncontended cycle. Warnings are
# the matter of `holdfast` itself. All are position-independent, so that a program may put a static
# one into a shared library of its own.
function(holdfast_flavour target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SHARED;FOR_TESTS" "" "SANITIZE;DEFINES")
  if(arg_SHARED)
    add_library(${target} SHARED ${holdfast_sources})
    holdfast_shared_interface(${target})
  else()
    add_library(${target} STATIC ${holdfast_sources})
    target_compile_definitions(${target} PUBLIC HOLDFAST_STATIC)
  endif()
  if(arg_FOR_TESTS)  # their programs are not linked again after each commit
    target_compile_definitions(${target} PRIVATE HOLDFAST_VERSION_OF_HEADERS)
  else()
    add_dependencies(${target} holdfast_version_header)
  endif()
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/generated)
  target_compile_definitions(${target} PRIVATE ${holdfast_definitions} PUBLIC ${arg_DEFINES})
  target_link_libraries(${target} PUBLIC Threads::Threads)
  if(HOLDFAST_WITH_NETWORK)
    # Of OpenSSL the headers alone: it is loaded when a TLS connection is made.
    target_include_directories(${target} SYSTEM PRIVATE ${OPENSSL_INCLUDE_DIR})
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:Boost::headers> ${CMAKE_DL_LIBS})
  endif()
  if(HOLDFAST_WITH_REDIS)
    target_link_libraries(${target} PRIVATE PkgConfig::hiredis)
  endif()
  if(HOLDFAST_WITH_MYSQL)
    # Of libmariadb the headers alone: it is loaded when a connection is made.
    target_include_directories(${target} SYSTEM PRIVATE ${mariadb_INCLUDE_DIRS})
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON POSITION_INDEPENDENT_CODE ON)
  set(batch 0)
  if(arg_FOR_TESTS OR HOLDFAST_IN_PIECES)
    list(LENGTH holdfast_sources files)
    math(EXPR batch "(${files} + 2) / 3")
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE ${batch})
  if(arg_FOR_TESTS)
    # With -O1 a library with the checks of sanitizers takes three quarters longer to compile.
    target_compile_options(${target} PRIVATE "$<IF:$<BOOL:${arg_SANITIZE}>,-Og,-O1>" -w)
  else()
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
    # UBSan's checks of each access to an object take half of the compile time. The preset asan has
    # them.
    if("undefined" IN_LIST arg_SANITIZE)
      target_compile_options(${target} PUBLIC -fno-sanitize=null,alignment,vptr)
    endif()
  endif()
endfunction()

# `holdfast` is what is shipped. `holdfast_static` names the static one: the command starts faster
# with it, and tests look inside it. Next to a shared library it is made of the same objects.
if(BUILD_SHARED_LIBS)
  holdfast_flavour(holdfast SHARED)
  set(holdfast_static holdfast_static)
  add_library(holdfast_static STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:holdfast>)
  set_target_properties(holdfast_static PROPERTIES LINKER_LANGUAGE CXX)
  foreach(property COMPILE_DEFINITIONS COMPILE_FEATURES COMPILE_OPTIONS INCLUDE_DIRECTORIES
      LINK_OPTIONS)
    set_target_properties(holdfast_static PROPERTIES
      INTERFACE_${property} $<TARGET_PROPERTY:holdfast,INTERFACE_${property}>)
  endforeach()
  target_link_libraries(holdfast_static PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
  if(HOLDFAST_WITH_REDIS)
    target_link_libraries(holdfast_static PUBLIC PkgConfig::hiredis)
  endif()
elseif(HOLDFAST_TESTS AND HOLDFAST_PLANTED_FAULTS)
  holdfast_flavour(holdfast DEFINES HOLDFAST_MUTANTS)
  add_library(holdfast_mutants ALIAS holdfast)
  set(holdfast_static holdfast)
else()
  holdfast_flavour(holdfast)
  set(holdfast_static holdfast)
endif()
add_library(holdfast::holdfast ALIAS holdfast)
if(HOLDFAST_WITH_ASIO)  # a header, which needs Boost's where it is included
  add_library(holdfast_asio INTERFACE)
  target_link_libraries(holdfast_asio INTERFACE holdfast Boost::headers)
  set_target_properties(holdfast_asio PROPERTIES EXPORT_NAME asio)
  add_library(holdfast::asio ALIAS holdfast_asio)
endif()
if(HOLDFAST_TESTS AND NOT TARGET holdfast_mutants)
  holdfast_flavour(holdfast_mutants FOR_TESTS DEFINES HOLDFAST_MUTANTS)
endif()
if(HOLDFAST_TESTS AND HOLDFAST_SANITIZED_TESTS)
  holdfast_flavour(holdfast_asan FOR_TESTS SANITIZE address undefined)
  holdfast_flavour(holdfast_tsan FOR_TESTS SANITIZE thread)
endif()
