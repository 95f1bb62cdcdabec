#include "backend/file/interrupter.hpp"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <mutex>

// The member that timer_create(2) documents; the C library names it only inside a union.
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace holdfast::file {
namespace {

constexpr long again_after_ns = 1'000'000;
constexpr long tick_ns = 20'000'000;

void do_nothing(int) {}

bool is_ours(int signal) noexcept {
  struct sigaction now;
  return ::sigaction(signal, nullptr, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
         now.sa_handler == do_nothing;
}

bool take(int signal) noexcept {
  struct sigaction now;
  if (::sigaction(signal, nullptr, &now) != 0) return false;
  if ((now.sa_flags & SA_SIGINFO) || now.sa_handler != SIG_DFL) return false;
  struct sigaction ours = {};
  ours.sa_handler = do_nothing;
  ::sigemptyset(&ours.sa_mask);
  return ::sigaction(signal, &ours, nullptr) == 0;
}

// An errno, or 0.
int create_timer(int signal, timer_t& to) noexcept {
  struct sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal;
  event.sigev_notify_thread_id = ::gettid();
  return ::timer_create(CLOCK_MONOTONIC, &event, &to) == 0 ? 0 : errno;
}

// An emulator (qemu-user) accepts handlers for more signals than its timers can send.
bool is_deliverable(int signal) noexcept {
  timer_t probe;
  if (const int error = create_timer(signal, probe)) return error != EINVAL;
  ::timer_delete(probe);
  return true;
}

// The signal, or 0. Searched from the upper end, because programs count up from SIGRTMIN. Checked
// again for each thread: the program may have taken the signal since.
int private_signal() noexcept {
  static std::mutex& mutex = *new std::mutex;
  static int signal = 0;
  const std::lock_guard guard(mutex);
  if (signal != 0 && is_ours(signal)) return signal;
  signal = 0;
  for (int s = SIGRTMAX - 1; s >= SIGRTMIN && signal == 0; --s)
    if (is_deliverable(s) && take(s)) signal = s;
  return signal;
}

}  // namespace

interrupter::interrupter() noexcept {
  const int signal = private_signal();
  if (signal == 0) return;
  error_ = create_timer(signal, timer_);
  if (error_ != 0) return;
  ready_ = true;
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
}

interrupter::~interrupter() {
  if (ready_) ::timer_delete(timer_);
}

void interrupter::interrupt() noexcept {
  const struct itimerspec soon = {{0, again_after_ns}, {0, 1}};
  ::timer_settime(timer_, 0, &soon, nullptr);
}

void interrupter::tick() noexcept {
  const struct itimerspec often = {{0, tick_ns}, {0, tick_ns}};
  ::timer_settime(timer_, 0, &often, nullptr);
}

void interrupter::calm() noexcept {
  const struct itimerspec off = {};
  ::timer_settime(timer_, 0, &off, nullptr);
}

}  // namespace holdfast::file
