#include "tests/sim/zookeeper/model/session_tracker.hpp"

namespace holdfast::sim::zk {

session_tracker::session_tracker(std::chrono::milliseconds tick, moment now)
    : tick_(tick), next_(rounded(now)) {}

moment session_tracker::rounded(moment t) const noexcept { return (t / tick_ + 1) * tick_; }

void session_tracker::track(std::int64_t session, std::int32_t timeout_ms, moment now) {
  sessions_.try_emplace(session);
  touch(session, timeout_ms, now);
}

bool session_tracker::touch(std::int64_t session, std::int32_t timeout_ms, moment now) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || found->second.is_closing) return false;
  const moment ends = rounded(now + std::chrono::milliseconds(timeout_ms));
  buckets_[found->second.ends].erase(session);
  found->second.ends = ends;
  buckets_[ends].insert(session);
  return true;
}

void session_tracker::set_owner(std::int64_t session, int server) {
  const auto found = sessions_.find(session);
  if (found != sessions_.end()) found->second.owner = server;
}

session_tracker::verdict session_tracker::check(std::int64_t session, int server) const {
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || found->second.is_closing) return verdict::expired;
  const int owner = found->second.owner;
  return owner == 0 || owner == server ? verdict::good : verdict::moved;
}

void session_tracker::set_closing(std::int64_t session) {
  const auto found = sessions_.find(session);
  if (found != sessions_.end()) found->second.is_closing = true;
}

void session_tracker::remove(std::int64_t session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  buckets_[found->second.ends].erase(session);
  sessions_.erase(found);
}

std::vector<std::int64_t> session_tracker::take_bucket() {
  std::vector<std::int64_t> out;
  const auto found = buckets_.find(next_);
  if (found != buckets_.end()) {
    out.assign(found->second.begin(), found->second.end());
    buckets_.erase(found);
  }
  next_ += tick_;
  return out;
}

}  // namespace holdfast::sim::zk
