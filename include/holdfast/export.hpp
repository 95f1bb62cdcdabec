// HOLDFAST_API marks what a shared holdfast lets a program see. A static one shows nothing, so
// that a program may link it into a shared library of its own: HOLDFAST_STATIC, which CMake's
// targets and the .pc file define for it.
//
// It stands at namespace v0 in each public header, and besides at each function that is no member:
// Clang looks for it there.
#pragma once

#ifdef HOLDFAST_STATIC
#define HOLDFAST_API
#else
#define HOLDFAST_API [[gnu::visibility("default")]]
#endif
