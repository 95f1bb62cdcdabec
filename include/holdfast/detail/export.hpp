// HOLDFAST_API marks what a shared library of holdfast exports. A static library exports nothing,
// so that a program may link it into a shared library of its own: CMake's targets and the .pc file
// define HOLDFAST_STATIC for it.
//
// The macro stands at namespace v0 in each public header, and also at each function that is not a
// member, because Clang reads it there.
#pragma once

#if __cplusplus < 202002L
#error "holdfast needs C++20 or later: compile with -std=c++20, or set CMAKE_CXX_STANDARD to 20"
#endif

#ifdef HOLDFAST_STATIC
#define HOLDFAST_API
#else
#define HOLDFAST_API [[gnu::visibility("default")]]
#endif
