// The two sides of the table: a client of ours and one of Curator or kazoo, each with the lock "x".
#pragma once
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "tests/interop/zookeeper/fixture.hpp"

namespace holdfast::zookeeper_wire {

using clock = std::chrono::steady_clock;

enum class library : unsigned char { curator, kazoo };

// The other library's name for it ("mutex", "read", "semaphore:1" ...), and the layout of ours.
struct kind {
  library of = library::curator;
  std::string type, layout;
  std::uint32_t permits = 0;   // of a semaphore
  std::string session = "4s";  // the timeout of ours
};

class contender {
 public:
  virtual ~contender() = default;
  virtual std::string name() const = 0;
  virtual bool is_ours() const = 0;
  virtual void hold() = 0;      // of a lock that is free
  virtual bool try_once() = 0;  // and gives it back
  // Waits for the lock on a thread of its own and then holds it: when that was.
  virtual std::shared_future<clock::time_point> wait() = 0;
  // False while it has not come to its sleep yet, as far as can be known.
  virtual bool is_asleep() { return true; }
  virtual bool release() = 0;   // whether it was held, as far as its library says
  virtual bool believes() = 0;  // that it holds the lock
  // Its session ends at the server; for ours the network is stopped until recover().
  virtual void lose_session() = 0;
  virtual void recover() = 0;
  virtual void downgrade() = 0;  // what is held for writing is held for reading
};

inline bool is_pending(const std::shared_future<clock::time_point>& f) {
  return f.wait_for(std::chrono::milliseconds{0}) != std::future_status::ready;
}

std::unique_ptr<contender> contender_of_ours(const zookeeper_server&, const kind&);
std::unique_ptr<contender> contender_of_theirs(const zookeeper_server&, const kind&);

}  // namespace holdfast::zookeeper_wire
