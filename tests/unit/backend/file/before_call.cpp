#include "tests/unit/backend/file/before_call.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace holdfast::file {
namespace {

// Pointers, because a thread that ends may still yield.
thread_local constinit std::array<const std::function<void()>*, 2> acts{};

const std::function<void()>*& act_before(system_call c) noexcept {
  return acts[static_cast<std::size_t>(c)];
}

void act(system_call c) {
  if (const auto* const before = act_before(c)) (*before)();
}

}  // namespace

before_call::before_call(system_call c, std::function<void()> act)
    : call_(c), act_(std::move(act)) {
  act_before(call_) = &act_;
}

before_call::~before_call() { act_before(call_) = nullptr; }

}  // namespace holdfast::file

extern "C" int sched_yield() noexcept {
  holdfast::file::act(holdfast::file::system_call::sched_yield);
  return static_cast<int>(::syscall(SYS_sched_yield));
}

extern "C" int mkdir(const char* path, mode_t mode) noexcept {
  holdfast::file::act(holdfast::file::system_call::mkdir);
  return ::mkdirat(AT_FDCWD, path, mode);
}
