// Threads that handle none of the program's signals.
#pragma once
#include <pthread.h>

#include <memory>
#include <new>
#include <system_error>
#include <utility>

namespace holdfast::base {

// Starts `run(context)` on a new thread with every signal blocked except those of a crash. `name`
// is cut to the 15 bytes that Linux keeps. False when the system cannot start a thread.
bool start_quiet_thread(pthread_t& out, const char* name, void* (*run)(void*),
                        void* context) noexcept;

// The same for `job()`; the job is destroyed on that thread.
template <class Job>
bool start_quiet_thread(pthread_t& out, const char* name, Job job) noexcept {
  std::unique_ptr<Job> given(new (std::nothrow) Job(std::move(job)));
  const auto run = [](void* p) -> void* {
    const std::unique_ptr<Job> own(static_cast<Job*>(p));
    (*own)();
    return nullptr;
  };
  if (!given || !start_quiet_thread(out, name, run, given.get())) return false;
  (void)given.release();  // the thread owns it now
  return true;
}

// The same; throws std::system_error when the system cannot start a thread.
template <class Job>
void require_quiet_thread(pthread_t& out, const char* name, Job job) {
  if (!start_quiet_thread(out, name, std::move(job)))
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                            "holdfast cannot start a thread");
}

// Joins a thread that was asked to end; detaches it when it is the calling thread.
void end_quiet_thread(pthread_t thread) noexcept;

}  // namespace holdfast::base
