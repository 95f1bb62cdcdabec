// A thread that handles none of the program's signals.
#pragma once
#include <pthread.h>

namespace holdfast::base {

// Starts `run(context)` on a new thread with every signal blocked except those of a crash. `name`
// is cut to the 15 bytes that Linux keeps. False when the system cannot start a thread.
bool start_quiet_thread(pthread_t& out, const char* name, void* (*run)(void*),
                        void* context) noexcept;

// Joins a thread that was asked to end; detaches it when it is the calling thread.
void end_quiet_thread(pthread_t thread) noexcept;

}  // namespace holdfast::base
