#include "io/network/watched_descriptor.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace holdfast::io {

using base::readiness;

namespace {

std::uint32_t epoll_bits_of(readiness r) noexcept {
  std::uint32_t out = 0;
  if (has(r, readiness::readable)) out |= EPOLLIN | EPOLLRDHUP;
  if (has(r, readiness::writable)) out |= EPOLLOUT;
  return out;
}

[[noreturn]] void fail(int error) {
  throw std::system_error(error, std::generic_category(), "holdfast cannot watch a descriptor");
}

}  // namespace

watched_descriptor::watched_descriptor(network& n, int fd, base::descriptor_events& e)
    : network_(n),
      mark_(n.mark),
      fd_(fd),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      waits_(std::in_place, n.context),
      events_(&e) {
  if (epoll_ < 0) fail(errno);
  place_ = &network_.descriptors.get();
  place_->put(epoll_);
}

watched_descriptor::~watched_descriptor() {
  if (place_) place_->take();  // start() has failed
  if (place_ && !waits_->is_open()) ::close(epoll_);
}

void watched_descriptor::start(readiness r) {
  if (r != readiness::none && !register_events(r)) fail(errno);
  wanted_ = r;
  boost::system::error_code failed;
  waits_->assign(epoll_, failed);
  if (failed) fail(failed.value());
  {
    const std::lock_guard l(network_.mutex);
    network_.watches.insert(this);
  }
  network_.post([self = shared_from_this()] { self->await(); });
}

// While nothing is wanted, what was registered stays: the library is at work then and may close the
// descriptor, and in most cases the same events are wanted again. What is found meanwhile pauses
// the wait of the loop, which touches no descriptor that may be a stranger's by now.
void watched_descriptor::set(readiness r) noexcept {
  const lock l(mutex_);
  if (!events_ || r == wanted_ || !is_of_this_process()) return;
  wanted_ = r;
  if (r == readiness::none) return;
  register_events(r);
  if (std::exchange(is_paused_, false) && !is_closed_)
    network_.post([self = shared_from_this()] { self->await(); });
}

bool watched_descriptor::register_events(readiness r) noexcept {
  if (r == registered_) return true;
  epoll_event wanted{};
  wanted.events = epoll_bits_of(r);
  const bool is_in = std::exchange(registered_, r).has_value();
  return ::epoll_ctl(epoll_, is_in ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd_, &wanted) == 0;
}

void watched_descriptor::await() {
  {
    const lock l(mutex_);
    if (!events_ || is_closed_) return;
  }
  waits_->async_wait(boost::asio::posix::stream_descriptor::wait_read,
                     [self = shared_from_this()](const boost::system::error_code& failed) {
                       if (!failed) self->on_wait();
                     });
}

void watched_descriptor::on_wait() {
  network_.awake();
  base::descriptor_events* user = nullptr;
  readiness ready = readiness::none;
  {
    const lock l(mutex_);
    if (!events_ || is_closed_) return;
    is_paused_ = wanted_ == readiness::none;
    if (is_paused_) return;
    ready = found();
    if (ready != readiness::none) {
      user = events_;
      handler_ = std::this_thread::get_id();
    }
  }
  if (user) {
    user->on_ready(ready);
    const lock l(mutex_);
    handler_ = {};
    handler_left_.notify_all();
  }
  await();
}

// Where one kind of event is wanted, the kernel is not asked which came. Another thread may have
// handled the event meanwhile, which could also happen after an answer of the kernel.
readiness watched_descriptor::found() const noexcept {
  if (wanted_ != readiness::both) return wanted_;
  epoll_event event{};
  if (::epoll_wait(epoll_, &event, 1, 0) != 1) return readiness::none;
  // An error and the peer's end are found by whatever the library does next.
  if (event.events & (EPOLLERR | EPOLLHUP)) return wanted_;
  readiness out = readiness::none;
  if (event.events & (EPOLLIN | EPOLLRDHUP)) out = out | readiness::readable;
  if (event.events & EPOLLOUT) out = out | readiness::writable;
  return out;
}

void watched_descriptor::cancel() noexcept {
  const lock l(mutex_);
  if (!events_ || !is_of_this_process()) return;
  events_ = nullptr;
  if (!is_closed_) network_.post([self = shared_from_this()] { self->close(); });
}

void watched_descriptor::close() noexcept {
  {
    const lock l(mutex_);
    if (std::exchange(is_closed_, true)) return;
  }
  std::exchange(place_, nullptr)->take();
  waits_.reset();
  const std::lock_guard l(network_.mutex);
  network_.watches.erase(this);
}

void watched_descriptor::end() noexcept {
  {
    const lock l(mutex_);
    events_ = nullptr;
  }
  close();
}

void watched_descriptor::drop(std::shared_ptr<watched_descriptor> w) noexcept {
  if (!w->is_of_this_process()) {
    // Leaked: the parent's threads may hold its locks.
    new std::shared_ptr<watched_descriptor>(std::move(w));
    return;
  }
  w->cancel();
  lock l(w->mutex_);
  w->handler_left_.wait(l, [&] {
    return w->handler_ == std::thread::id() || w->handler_ == std::this_thread::get_id();
  });
}

}  // namespace holdfast::io
