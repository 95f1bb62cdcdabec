# Refuses what holdfast cannot be built for, each in one sentence with its remedy. It is also a
# script, so that a test can read the sentences:
# cmake -DCMAKE_SIZEOF_VOID_P=4 ... -P cmake/refusals.cmake
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  message(FATAL_ERROR "holdfast needs Linux, and this is a build for ${CMAKE_SYSTEM_NAME}: build "
    "it on Linux, or in a container of Linux")
endif()
if(CMAKE_SIZEOF_VOID_P LESS 8)
  message(FATAL_ERROR "holdfast needs a 64-bit machine (${CMAKE_SYSTEM_PROCESSOR} has pointers of "
    "${CMAKE_SIZEOF_VOID_P} bytes): it locks bytes of its "
    "files that 32-bit offsets cannot reach (docs/support.md)")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "holdfast needs GCC 12 or later, and this is GCC "
    "${CMAKE_CXX_COMPILER_VERSION}: name another compiler with -DCMAKE_CXX_COMPILER=")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  message(FATAL_ERROR "holdfast needs Clang 14 or later, and this is Clang "
    "${CMAKE_CXX_COMPILER_VERSION}: name another compiler with -DCMAKE_CXX_COMPILER=")
endif()
if(CMAKE_CXX_FLAGS MATCHES "-stdlib=libc\\+\\+")
  message(FATAL_ERROR "holdfast needs libstdc++ (libc++ has no std::stop_token): leave out "
    "-stdlib=libc++")
endif()
