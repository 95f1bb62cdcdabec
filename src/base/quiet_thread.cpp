#include "base/quiet_thread.hpp"

#include <signal.h>

#include <cstring>
#include <initializer_list>

namespace holdfast::base {

bool start_quiet_thread(pthread_t& out, const char* name, void* (*run)(void*),
                        void* context) noexcept {
  sigset_t all, before;
  ::sigfillset(&all);
  for (int of_a_crash : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
    ::sigdelset(&all, of_a_crash);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const int failed = ::pthread_create(&out, nullptr, run, context);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (failed != 0) return false;
  char cut[16] = {};
  std::memcpy(cut, name, ::strnlen(name, sizeof cut - 1));
  ::pthread_setname_np(out, cut);
  return true;
}

void end_quiet_thread(pthread_t thread) noexcept {
  if (::pthread_equal(::pthread_self(), thread))
    ::pthread_detach(thread);
  else
    ::pthread_join(thread, nullptr);
}

}  // namespace holdfast::base
