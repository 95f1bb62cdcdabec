// A descriptor of a client library, watched by the loop.
#pragma once
#include <boost/asio/posix/stream_descriptor.hpp>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/network.hpp"
#include "io/network/network.hpp"

namespace holdfast::io {

// The loop waits for an epoll instance of our own that has the library's descriptor in it. The
// library may close its descriptor at any time, even inside on_ready(): the kernel then takes it
// out, the connection really ends, and a new file with the same number is not ours. (A duplicate
// would keep the connection open; the loop's own epoll could be left with a stranger's number.) It
// also lets every thread change the events at once, without the loop.
//
// Kept alive by its watch and by its pending wait.
class watched_descriptor final : public std::enable_shared_from_this<watched_descriptor> {
 public:
  watched_descriptor(network&, int fd, base::descriptor_events&);
  ~watched_descriptor();
  void start(base::readiness);  // call it first; throws std::system_error

  // As in base::descriptor_watch.
  void set(base::readiness) noexcept;
  void cancel() noexcept;
  // Its watch is destroyed: cancels, and waits for a call of on_ready() on another thread.
  static void drop(std::shared_ptr<watched_descriptor>) noexcept;
  void end() noexcept;  // the loop is destroyed, and no thread drives it any more

 private:
  using lock = std::unique_lock<std::mutex>;

  void await();
  void on_wait();
  base::readiness found() const noexcept;
  bool register_events(base::readiness) noexcept;  // false: errno tells why
  void close() noexcept;
  bool is_of_this_process() const noexcept { return mark_ == fork_mark(); }

  network& network_;  // valid until it is closed, and in handlers
  const std::uint32_t mark_;
  const int fd_;     // the library's
  const int epoll_;  // owned by waits_ from start() on
  // Until close(): the watch may outlive the loop, and what is left of it must not need the loop.
  std::optional<boost::asio::posix::stream_descriptor> waits_;
  base::descriptor_list::place* place_ = nullptr;

  std::mutex mutex_;                 // guards the fields below
  base::descriptor_events* events_;  // null: cancelled
  base::readiness wanted_ = base::readiness::none;
  std::optional<base::readiness> registered_;  // with epoll; {}: not yet
  bool is_closed_ = false;
  bool is_paused_ = false;   // until something is wanted again, the loop does not wait
  std::thread::id handler_;  // the thread that is inside on_ready()
  std::condition_variable handler_left_;
};

}  // namespace holdfast::io
