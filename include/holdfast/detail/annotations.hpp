// Annotations for the thread safety analysis of Clang (-Wthread-safety), which other compilers
// ignore: https://clang.llvm.org/docs/ThreadSafetyAnalysis.html. Not for users to name: a program
// annotates its own data with the attributes of that page.
#pragma once

#if defined(__clang__) && defined(__has_attribute)
#if __has_attribute(capability) && __has_attribute(acquire_capability)
#define HOLDFAST_ANNOTATE(attribute) __attribute__((attribute))
#endif
#endif
#ifndef HOLDFAST_ANNOTATE
#define HOLDFAST_ANNOTATE(attribute)
#endif

#define HOLDFAST_CAPABILITY HOLDFAST_ANNOTATE(capability("mutex"))
// The body of an annotated function locks what the analysis cannot see, so it is left out.
#define HOLDFAST_UNCHECKED HOLDFAST_ANNOTATE(no_thread_safety_analysis)
#define HOLDFAST_LOCKS HOLDFAST_ANNOTATE(acquire_capability()) HOLDFAST_UNCHECKED
#define HOLDFAST_TRIES HOLDFAST_ANNOTATE(try_acquire_capability(true)) HOLDFAST_UNCHECKED
#define HOLDFAST_UNLOCKS HOLDFAST_ANNOTATE(release_capability()) HOLDFAST_UNCHECKED
#define HOLDFAST_LOCKS_SHARED HOLDFAST_ANNOTATE(acquire_shared_capability()) HOLDFAST_UNCHECKED
#define HOLDFAST_TRIES_SHARED \
  HOLDFAST_ANNOTATE(try_acquire_shared_capability(true)) HOLDFAST_UNCHECKED
#define HOLDFAST_UNLOCKS_SHARED HOLDFAST_ANNOTATE(release_shared_capability()) HOLDFAST_UNCHECKED
