// HOLDFAST_API marks what a shared library of holdfast exports. A static library exports nothing,
// so that a program may link it into a shared library of its own: CMake's targets and the .pc file
// define HOLDFAST_STATIC for it.
//
// The macro stands at namespace v0 in each public header, and also at each function that is not a
// member, because Clang reads it there.
#pragma once

#ifdef HOLDFAST_STATIC
#define HOLDFAST_API
#else
#define HOLDFAST_API [[gnu::visibility("default")]]
#endif
