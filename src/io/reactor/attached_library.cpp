#include "io/reactor/attached_library.hpp"

#include <utility>

#include "io/reactor/client_reactor.hpp"

namespace holdfast::io {

attached_library::attached_library(client_reactor& home, library_user& u,
                                   base::driven_by by) noexcept
    : home_(home), user_(u), loop_(by) {}

attached_library::~attached_library() {
  std::erase(home_.due_, this);
  unwatch();
}

void attached_library::request() {
  if (!std::exchange(is_due_, true)) home_.due_.push_back(this);
}

bool attached_library::watch(int fd) {
  unwatch();
  base::event_loop* over = nullptr;
  {
    const std::lock_guard guard(home_.mutex_);
    over = &home_.loop_of(loop_);
  }
  watch_ = over->watch(fd, base::readiness::none, *this);
  if (!watch_) return false;
  place_ = &home_.descriptors_.get();
  place_->put(fd);
  return true;
}

void attached_library::await(base::readiness r) noexcept { watch_->set(r); }

void attached_library::unwatch() noexcept {
  watch_.reset();
  if (place_) std::exchange(place_, nullptr)->take();
}

void attached_library::call() noexcept {
  if (watch_) watch_->set(base::readiness::none);
  user_.perform();
}

void attached_library::on_ready(base::readiness r) {
  {
    const std::lock_guard guard(home_.mutex_);
    ready_ = ready_ | r;
    request();
  }
  home_.perform_due(loop_);
}

}  // namespace holdfast::io
