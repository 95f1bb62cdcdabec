// When sessions end: the leader's table. Sessions whose timeouts end within the same tick are one
// bucket, which is taken as a whole and then closed one session after the other.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "tests/sim/zookeeper/model/host.hpp"

namespace holdfast::sim::zk {

class session_tracker {
 public:
  enum class verdict : unsigned char { good, expired, moved };

  session_tracker(std::chrono::milliseconds tick, moment now);

  void track(std::int64_t session, std::int32_t timeout_ms, moment now);
  // Its timeout begins anew, which may be earlier than before. False: it is unknown, or closing.
  bool touch(std::int64_t session, std::int32_t timeout_ms, moment now);
  // The server to which it is attached: requests over others are of a session that has moved.
  void set_owner(std::int64_t session, int server);
  verdict check(std::int64_t session, int server) const;
  void set_closing(std::int64_t session);
  void remove(std::int64_t session);

  moment next_bucket() const noexcept { return next_; }
  std::vector<std::int64_t> take_bucket();  // that of next_bucket(); goes on to the one after it

 private:
  struct entry {
    moment ends{};
    int owner = 0;
    bool is_closing = false;
  };
  moment rounded(moment) const noexcept;  // up to the end of its tick

  const moment tick_;
  moment next_;
  std::map<std::int64_t, entry> sessions_;
  std::map<moment, std::set<std::int64_t>> buckets_;
};

}  // namespace holdfast::sim::zk
