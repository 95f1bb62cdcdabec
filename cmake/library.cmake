# The library, in as many flavours as something needs: plain, with planted faults, sanitized.
file(GLOB holdfast_sources CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/src/*.cpp ${PROJECT_SOURCE_DIR}/src/core/*.cpp
  ${PROJECT_SOURCE_DIR}/src/io/*.cpp ${PROJECT_SOURCE_DIR}/src/backend/file/*.cpp)
if(HOLDFAST_WITH_MEMORY)
  file(GLOB memory_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/backend/memory/*.cpp)
  list(APPEND holdfast_sources ${memory_sources})
endif()

set(holdfast_warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)

function(holdfast_flavour target)
  add_library(${target} STATIC ${holdfast_sources})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/include
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(${target} PRIVATE ${holdfast_warnings} -fvisibility=hidden)
  target_link_libraries(${target} PUBLIC Threads::Threads)
  if(HOLDFAST_WITH_MEMORY)
    target_compile_definitions(${target} PRIVATE HOLDFAST_WITH_MEMORY)
  endif()
endfunction()

holdfast_flavour(holdfast)
add_library(holdfast::holdfast ALIAS holdfast)
