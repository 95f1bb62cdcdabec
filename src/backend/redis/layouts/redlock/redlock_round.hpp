// One request of a claim to all servers, and their answers until a majority has decided. Servers
// that answer later are heard too: what they did is known then, and nothing is withdrawn.
#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "backend/redis/layouts/redlock/tally.hpp"
#include "backend/redis/layouts/retrying_codec.hpp"
#include "backend/redis/transport/reply_handler.hpp"
#include "base/timer_heap.hpp"
#include "claim/claim_table.hpp"

namespace holdfast::redis {

class redlock_layout;

class redlock_round final : public base::heap_timer {
 public:
  enum class phase : unsigned char {
    leading,  // an attempt at a contended lock: one server is asked before the others
    voting,   // all servers were asked
    raising,  // an attempt: the servers below the number of the grant are raised to it
    decided,
  };

  // The request to one server.
  class request final : public reply_handler {
   public:
    void on_reply(const value&, const reply_context&) override;
    void on_not_executed(not_executed, const value& error, const reply_context&) override;
    void on_cut(const reply_context&) override;

    redlock_round* round = nullptr;
    std::uint8_t server = 0;
    bool was_sent = false;
  };

  explicit redlock_round(redlock_layout& home) noexcept : home_(home) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      requests[i].round = this;
      requests[i].server = static_cast<std::uint8_t>(i);
    }
  }

  void begin(retrying_operation op, std::size_t servers, time_point now) noexcept {
    to = op;
    votes = tally(servers);
    now_in = phase::voting;
    number = 0;
    notified_others = is_confirmed = false;
    sent = now;
    patient_until = base::never;
    for (request& r : requests) r.was_sent = false;
  }
  bool is_over() const noexcept { return now_in == phase::decided && in_flight == 0; }
  bool is_attempt() const noexcept {
    return to == retrying_operation::try_lock || to == retrying_operation::resolve;
  }
  bool is_leaving() const noexcept {
    return to == retrying_operation::release || to == retrying_operation::withdraw;
  }

  retrying_operation to{};
  phase now_in = phase::decided;
  bool notified_others = false;  // a release: some other client has got the message
  bool is_confirmed = false;     // a renewal: a majority has the lock
  std::uint8_t lead = 0;         // leading: the server that is asked first
  std::uint32_t epoch = 0;       // of the claim when it asked
  std::uint32_t ticket = 0;      // of a renewal
  std::uint32_t in_flight = 0;
  std::int64_t number = 0;  // raising: of the grant
  claims::claim_handle whose;
  duration ttl{};
  time_point sent{};
  // An attempt with a majority that has not all reached the number: until then the other servers
  // may answer, and spare the second phase.
  time_point patient_until = base::never;
  std::string key, owner;
  tally votes;
  std::array<request, independent_servers_max> requests;

 private:
  redlock_layout& home_;
};

}  // namespace holdfast::redis
