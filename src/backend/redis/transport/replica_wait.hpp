// Asks the server whether replicas have what it has answered: PUBLISH and WAIT, over a connection
// of its own. WAIT covers all that the server had sent to replicas when this connection's last
// command did the same, so the PUBLISH, which is replicated too, makes it cover every reply that
// was received before. On a connection that was idle it would cover nothing; after a command that
// replicas do not get it covers nothing either in Valkey, while in Redis any command will do.
//
// Requests to an idle connection take the question along in the same write, so a grant without
// competitors needs no further round trip. WAIT is short there, because it blocks the connection.
// Where it does not suffice, the question is asked again over the connection of its own.
//
// INFO comes after WAIT. A server that was a replica meanwhile, and is the master again, has other
// data and a new replication id: its replicas confirm nothing that it answered before.
//
// Source: Redis' documentation of WAIT. It is no consensus: a replica that has confirmed keeps what
// it has if it is promoted, but another one may be promoted in its place.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "backend/redis/transport/side_connection_owner.hpp"

namespace holdfast::redis {

class replica_wait final : private side_connection_owner {
 public:
  class asker {  // called with the reactor's mutex held
   public:
    virtual bool has_commands_server() const noexcept = 0;
    virtual base::address reached() const = 0;  // by them
    virtual bool is_commands_server(const server_identity&) const = 0;
    // Whether that server has been the master since then, by its INFO replication.
    virtual bool still_reigns(std::string_view replication, const reply_context&) = 0;
    virtual bool has_held() const noexcept = 0;  // replies that nothing has covered yet
    virtual void on_asked() = 0;                 // about all that is held now
    virtual void on_covered(time_point now, base::event_queue&) = 0;
    virtual void on_commands_covered(time_point now, base::event_queue&) = 0;  // before the answer
    virtual void on_lacking(std::string why, time_point now) = 0;
    virtual void on_demoted(time_point now, base::event_queue&) = 0;  // the server

   protected:
    ~asker() = default;
  };

  replica_wait(io::client_reactor&, const endpoint&, asker&, subscriptions&);
  ~replica_wait();

  // All with the reactor's mutex held.
  void open(time_point now);  // once commands have a server
  // Unless a question is under way, which is followed by another: on the loop of callers, or where
  // a flush of that would need the mutex again.
  void ask_at_once(time_point now);
  void ask_by_alarm(time_point now);
  // Behind requests that are written to `commands`, which was idle before.
  void ask_behind(connection& commands, time_point now);
  void on_alarm(time_point now, base::event_queue&);
  void write(std::unique_lock<std::mutex>& lock) noexcept {
    write_out(line_, lock, [](auto&) {});
  }
  void retry_now(time_point by) { line_.retry_now(by); }
  void set_count(std::size_t replicas) noexcept { count_ = replicas; }
  std::size_t count() const noexcept { return count_; }
  bool is_answered() const noexcept { return line_.is_ready() && is_answered_; }
  // Why it will never be answered. Code {}: it may be.
  base::failure fault() const;
  bool has_unattended_replies() const noexcept { return line_.has_unattended_replies(); }

 private:
  bool may_open(connection&, time_point) override;
  bool accepts(connection&, base::failure& why, time_point, base::event_queue&) override;
  void on_ready(connection&, time_point now, base::event_queue&) override { ask_at_once(now); }
  void on_down(connection&, const base::failure&, loss, time_point, base::event_queue&) override;
  std::shared_ptr<io::attached_stream> connect(connection&, base::failure& why) override;

  class question_behind;

  void ask(time_point now);
  std::uint32_t append_question(std::string& out, duration wait_limit) const;
  bool is_enough(std::int64_t confirmed_by) const noexcept;
  void on_counted(const value&, const reply_context&);
  void on_told_history(const value&, const reply_context&);
  void on_refused(std::string_view error, const char* needed, const reply_context&);

  const endpoint& endpoint_;
  asker& asker_;
  connection line_;
  reply_function count_reply_{std::bind_front(&replica_wait::on_counted, this),
                              [this] { is_asking_ = false; }};
  reply_function history_reply_{std::bind_front(&replica_wait::on_told_history, this),
                                [this] { is_asking_ = false; }};
  std::size_t count_ = 1;          // of replicas that have to confirm
  std::int64_t confirmed_by_ = 0;  // at the last WAIT
  bool is_asking_ = false, is_answered_ = false;
  time_point ask_again_ = base::never;
  std::unique_ptr<question_behind> behind_;
  time_point ask_behind_again_{};  // not before, after one in vain
};

}  // namespace holdfast::redis
