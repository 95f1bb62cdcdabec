#include "backend/redis/transport/replica_wait.hpp"

#include <utility>

#include "backend/redis/server_time.hpp"
#include "backend/redis/transport/error_text.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

using base::event_queue;
using base::failure;
using base::mutant;
using base::planted;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view waiting_channel = "hf:wait";  // nobody listens to it
// Meanwhile the other requests of the client wait.
constexpr duration shared_wait_limit = 2ms;
constexpr duration pause_behind = 1s;  // after a question in vain
constexpr duration pause = 100ms;      // after an answer that came at once and did not suffice
constexpr const char* not_that_of_commands = "it is not the server that commands go to";
constexpr const char* reigns_anew = "the server was a replica meanwhile";
constexpr const char* needs_info = "replicas= needs the right to INFO, by which the connections of "
                                   "a client are known to be to the same server";
constexpr const char* needs_wait = "replicas= needs WAIT, and PUBLISH to the channel hf:wait";

}  // namespace

// Unless the answer covers the replies, they stay held back, and the connection of its own asks
// again.
class replica_wait::question_behind final : public reply_handler {
 public:
  explicit question_behind(replica_wait& w) noexcept : home_(w) {}
  void ask_over(connection& commands, time_point now) {
    is_refused_ = false;
    awaited_ = home_.append_question(commands.out(), shared_wait_limit);
    commands.ask(*this, awaited_, now);
  }

 private:
  bool counts_at_once() const noexcept override { return true; }
  void on_cut(const reply_context&) override {}
  void on_reply(const value& v, const reply_context& c) override {
    is_refused_ = is_refused_ || v.is(value::kind::error);
    if (--awaited_ > 0) {  // the last but one is that of WAIT
      is_confirmed_ = home_.is_enough(v.integer());
      return;
    }
    if (!is_confirmed_ || is_refused_) {
      home_.ask_behind_again_ = c.now + pause_behind;
      return;
    }
    if (home_.asker_.still_reigns(v.text(), c)) home_.asker_.on_commands_covered(c.now, c.events);
  }

  replica_wait& home_;
  std::uint32_t awaited_ = 0;
  bool is_confirmed_ = false, is_refused_ = false;
};

replica_wait::replica_wait(io::client_reactor& r, const endpoint& e, asker& a, subscriptions& s)
    : side_connection_owner(r),
      endpoint_(e),
      asker_(a),
      line_(*this, endpoint_, lane::replicas, s),
      behind_(std::make_unique<question_behind>(*this)) {}

replica_wait::~replica_wait() = default;

bool replica_wait::may_open(connection&, time_point) { return asker_.has_commands_server(); }

std::shared_ptr<io::attached_stream> replica_wait::connect(connection& c, failure& why) {
  return reactor_.connect(c, asker_.reached(), endpoint_.tls_or_none(), base::driven_by::callers,
                          why);
}

bool replica_wait::accepts(connection& c, failure& why, time_point, event_queue&) {
  why = c.server().is_known() ? failure{errc::unavailable, not_that_of_commands}
                              : failure{errc::refused, needs_info};
  return c.server().is_known() && asker_.is_commands_server(c.server());
}

void replica_wait::open(time_point now) {
  line_.retry_now(now);
  line_.open(now);
}

void replica_wait::on_alarm(time_point now, event_queue& events) {
  line_.on_alarm(now, events);
  if (now < ask_again_) {
    reactor_.wake_by(ask_again_);
    return;
  }
  if (std::exchange(ask_again_, base::never) != base::never) ask(now);
}

void replica_wait::ask(time_point now) {
  if (is_asking_) return;
  if (!line_.is_ready()) return line_.open(now);
  is_asking_ = true;
  ask_again_ = base::never;
  asker_.on_asked();
  const std::uint32_t replies = append_question(line_.out(), endpoint_.op_timeout / 8);
  line_.expect(count_reply_, replies - 1, now, attended::in_background);
  line_.expect(history_reply_, 1, now, attended::in_background);
}

// How many replies answer it.
std::uint32_t replica_wait::append_question(std::string& out, duration wait_limit) const {
  const bool is_idle = planted(mutant::idle_wait_believed);
  if (!is_idle) append_command(out, "PUBLISH", waiting_channel, "0");
  append_command(out, "WAIT", static_cast<std::int64_t>(count_), in_ms(wait_limit));
  append_command(out, "INFO", "replication");
  return is_idle ? 2 : 3;
}

void replica_wait::ask_behind(connection& commands, time_point now) {
  if (is_answered() && now >= ask_behind_again_) behind_->ask_over(commands, now);
}

bool replica_wait::is_enough(std::int64_t confirmed_by) const noexcept {
  return confirmed_by >= static_cast<std::int64_t>(count_) ||
         planted(mutant::lacking_replicas_ignored);
}

void replica_wait::ask_at_once(time_point now) {
  ask(now);
  reactor_.request_flush(true);
}

void replica_wait::ask_by_alarm(time_point now) {
  ask(now);
  reactor_.wake_by(now);
}

void replica_wait::on_refused(std::string_view error, const char* needed, const reply_context& c) {
  if (is_of_replica(error)) {
    line_.end({errc::unavailable, explain(error)}, c.now, c.events);
    return asker_.on_demoted(c.now, c.events);
  }
  const error_meaning* const m = meaning_of(error);
  if (m && m->is_passing) return line_.end({m->why, explain(error)}, c.now, c.events);
  line_.refuse({errc::refused, std::string(needed) + ": " + explain(error)}, c.now, c.events);
}

void replica_wait::on_counted(const value& v, const reply_context& c) {
  const std::string_view error = c.aborted.empty() ? v.text() : c.aborted;
  if (!error.empty()) return on_refused(error, needs_wait, c);
  confirmed_by_ = v.integer();
}

void replica_wait::on_told_history(const value& v, const reply_context& c) {
  is_asking_ = false;
  if (v.is(value::kind::error)) return on_refused(v.text(), needs_info, c);
  if (!asker_.is_commands_server(line_.server()) && !planted(mutant::replica_of_another_server))
    return line_.end({errc::unavailable, not_that_of_commands}, c.now, c.events);
  if (!asker_.still_reigns(v.text(), c))
    return line_.end({errc::unavailable, reigns_anew}, c.now, c.events);
  is_answered_ = true;
  if (is_enough(confirmed_by_)) {
    asker_.on_covered(c.now, c.events);
    if (asker_.has_held()) ask_at_once(c.now);
    return;
  }
  if (!asker_.has_held()) return;
  asker_.on_lacking(std::to_string(confirmed_by_) + " of the " + std::to_string(count_) +
                        " replicas that replicas= requires have confirmed what the server wrote; "
                        "check that they are connected to it and keep up",
                    c.now);
  ask_again_ = c.now + pause;
  reactor_.wake_by(ask_again_);
}

void replica_wait::on_down(connection&, const failure& why, loss, time_point now, event_queue&) {
  is_asking_ = false;
  if (asker_.has_held()) asker_.on_lacking(why.text, now);
}

failure replica_wait::fault() const {
  return line_.has_failed_for_good() ? line_.last_failure() : failure();
}

}  // namespace holdfast::redis
