// One server of a Redlock: whether it may vote, what is sent to it, and the owners that may be left
// there.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/redis/layouts/layout_node.hpp"
#include "backend/redis/layouts/redlock/fitness.hpp"
#include "backend/redis/layouts/redlock/redlock_round.hpp"
#include "backend/redis/layouts/server_orphan.hpp"
#include "backend/redis/settings.hpp"

namespace holdfast::redis {

class redlock_layout;
class redlock_node;

// An owner that may be left at the server.
struct redlock_orphan final : server_orphan<redlock_orphan, redlock_node> {
  redlock_orphan(redlock_node&, std::string_view key, std::string_view owner, time_point end);
  withdrawal withdraw(time_point now);
  withdrawal take(const value&, time_point) noexcept { return withdrawal::done; }

  const std::string key, owner;
};

class redlock_node final : public layout_node {
 public:
  redlock_node(redlock_layout&, const settings&, transport&, std::uint8_t server);
  ~redlock_node() override;

  // For the layout, with the reactor's mutex held.
  std::uint8_t server() const noexcept { return server_; }
  // The server's description of itself; null: it is not connected, or has not answered yet.
  const redlock::server_state* state() const noexcept { return is_known_ ? &state_ : nullptr; }
  // Its last description of itself, even if it is not connected.
  const redlock::server_state& last_state() const noexcept { return state_; }
  bool has_copy() const noexcept { return is_known_ && has_copy_; }  // its record is another's
  bool may_vote() const noexcept { return is_known_ && fitness_.is_fit() && over_.lanes_agree(); }
  std::string why_not() const;  // it does not vote; empty: it does
  std::string address() const;
  // An attempt; at once, or when it is known whether it may vote. False: it may not.
  bool ask(redlock_round::request&, time_point now);
  // The request of the round, to a server that is connected.
  void write(redlock_round::request&, time_point now);
  void raise(redlock_round::request&, time_point now);
  // False: it is not asked, because it is not connected.
  bool renew(redlock_round::request&, time_point now);
  // Sets the lock of a renewal here too, if nobody has it.
  void restore(const redlock_round&, time_point now);
  void on_refused(std::string_view error, time_point now);
  // Withdraws an owner that may have the lock here, until its lease has ended.
  void withdraw(std::string_view key, std::string_view owner, time_point end, time_point now);
  std::unique_ptr<subscription> listen(std::string_view channel, message_handler& to,
                                       time_point now) {
    over_.open(lane::messages, now);
    return over_.subscribe(channel, to, now);
  }
  void count_owners(int change) noexcept { owners_ += change; }
  void judge(time_point now);
  void look(time_point now);  // asks what it may be judged by
  void look_by(time_point);
  void begin_record(std::int64_t number, time_point now);

  // For its orphans.
  static void on_orphan_redirected(const redlock_orphan&, const redirection&, time_point) {}
  claims::orphan_withdrawals<redlock_orphan>& orphans() noexcept { return orphans_; }
  const redlock_layout& home() const noexcept { return home_; }

  // layout_node
  void retry_now(time_point by) override { over_.retry_now(lane::commands, by); }
  void withdraw_all(time_point now) override {
    if (over_.is_ready(lane::commands)) orphans_.resend_all(now);
  }
  bool is_settled() const noexcept override { return orphans_.empty(); }
  void detach() noexcept override { orphans_.drop_all(); }

  // request_source
  void write_requests(lane, request_writer&) override;
  void on_ready(lane, time_point now, base::event_queue&) override;
  void on_down(lane, const base::failure&, loss, time_point now, base::event_queue&) override;
  void on_silent(lane, time_point) override {}
  void on_tick(time_point now, base::event_queue&) override;
  bool is_open() const noexcept override { return is_known_ && !is_refused(); }
  bool is_in_use() const noexcept override { return owners_ > 0; }
  base::failure fault() const override;

 private:
  class question;

  bool is_refused() const noexcept { return is_known_ && refusal_.code == errc::refused; }
  lock_request request_of(const redlock_round&) const noexcept;
  void ask_undecided(const reply_context&);
  void on_looked(const redlock::server_state&, base::failure why, time_point now);
  std::string text_of_copy() const;
  void on_begun(const value&, const reply_context&);

  redlock_layout& home_;
  const settings& settings_;
  const std::uint8_t server_;
  const std::unique_ptr<question> question_;
  reply_function begun_reply_{std::bind_front(&redlock_node::on_begun, this),
                              [this] { is_beginning_ = false; }};
  bool is_beginning_ = false;
  time_point begin_not_before_{};  // after a refusal
  redlock::server_state state_;
  base::failure refusal_;  // of INFO, or of the query for the record
  redlock::fitness fitness_;
  bool is_known_ = false, has_copy_ = false;
  time_point look_at_ = base::never;
  claims::orphan_withdrawals<redlock_orphan> orphans_;
  std::vector<redlock_round::request*> renewals_;   // for the next write
  std::vector<redlock_round::request*> undecided_;  // attempts
  int owners_ = 0;                                  // claims that hold or want a lock
};

}  // namespace holdfast::redis
