// A session of a diagnosis's own, with calls that block.
#pragma once
#include <string>

#include "backend/zookeeper/transport/transport.hpp"

namespace holdfast::zookeeper {

struct probe_answer {
  bool was_cut = false;  // the connection was lost; nothing else is set
  error code{};
  std::int64_t zxid = 0;
  std::string body;
  base::duration trip{};

  bool is_ok() const noexcept { return !was_cut && code == error::ok; }
  std::span<const std::byte> bytes() const noexcept { return std::as_bytes(std::span(body)); }
};

class probe final : private session_listener {
 public:
  // Opens a session. Throws lock_error.
  probe(base::environment&, endpoint where);
  ~probe();  // closes it

  duration timeout();  // that the server has granted
  probe_answer call(opcode, std::string body);

 private:
  void on_attached(bool, time_point, base::event_queue&) override {}
  void on_deadline(time_point, base::event_queue&) override {}
  void on_doubtful(base::event_queue&) override {}
  void on_session_lost(const base::failure&, base::event_queue&) override {}
  void on_watch(const watch_event&, time_point, base::event_queue&) override {}

  base::environment& env_;
  const endpoint where_;
  transport over_;
};

}  // namespace holdfast::zookeeper
