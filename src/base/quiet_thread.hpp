// A thread that takes none of the program's signals.
#pragma once
#include <pthread.h>

namespace holdfast::core {

// Starts `run(context)` on a new thread with every signal blocked but those of a crash, and with
// `name`, cut to the 15 bytes that Linux keeps. False when the system has no room for a thread.
bool start_quiet_thread(pthread_t& out, const char* name, void* (*run)(void*),
                        void* context) noexcept;

// Waits for a thread that has been told to end; when that is the calling one, lets it go instead.
void end_quiet_thread(pthread_t thread) noexcept;

}  // namespace holdfast::core
