// The state that the streams of one loop share.
#pragma once
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <mutex>
#include <unordered_set>

#include "base/descriptor_list.hpp"
#include "base/network.hpp"
#include "io/fork_mark.hpp"

namespace holdfast::io {

class socket_stream;
class watched_descriptor;

// Belongs to the loop. Handlers run on the thread that drives it; post() is safe from any thread.
struct network {
  explicit network(base::event_loop& l) : loop(l) {}

  // Runs `job` on the driving thread, and keeps the loop driven until then.
  template <class Job>
  void post(Job job) {
    busy.fetch_add(1);
    boost::asio::post(context, [this, job = std::move(job)]() mutable {
      busy.fetch_sub(1);
      awake();
      job();
    });
    loop.attend();
  }
  virtual void awake() noexcept = 0;  // the driving thread has woken up
  bool is_of_this_process() const noexcept { return mark == fork_mark(); }

  base::event_loop& loop;
  boost::asio::io_context context{1};
  std::atomic<int> busy{0};  // pending operations of the streams, for which the loop must be driven
  base::descriptor_list descriptors;
  const std::uint32_t mark = fork_mark();
  std::mutex mutex;  // guards:
  std::unordered_set<socket_stream*> connections;
  std::unordered_set<watched_descriptor*> watches;

 protected:
  ~network() = default;
};

}  // namespace holdfast::io
