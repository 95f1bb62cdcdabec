// Reads the report of one server of the URL.
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>

#include "backend/zookeeper/diagnosis/diagnosis.hpp"
#include "backend/zookeeper/diagnosis/probe.hpp"
#include "base/fail.hpp"
#include "base/parker.hpp"

namespace holdfast::zookeeper {

namespace {

using namespace std::chrono_literals;

constexpr duration least_asked = 1ms,
                   most_asked = 24h;  // servers grant what is within their bounds
constexpr int local_session_tries = 5;
constexpr int question_tries = 20;

struct word_answer {
  std::string text;
  bool was_open = false;  // it took the connection
  base::failure why;      // there is no answer; code {}: there is one
};

constexpr std::size_t answer_max = 65'536;
constexpr const char* thread_name = "holdfast-zk-ask";

// Asks a server an administrator's word ("srvr") over a connection of its own.
class four_letter_command final : base::stream_events, base::loop_user, base::alarm_target {
 public:
  four_letter_command(base::environment& env, std::string_view word) : env_(env), word_(word) {}

  // Blocks, at most for `limit`. `tls` null: plain text.
  word_answer run(const base::address& where, const base::tls_terms* tls, base::duration limit) {
    std::unique_ptr<base::stream> stream;
    auto alarm = env_.make_alarm(*this, thread_name);
    auto loop = env_.make_loop(*this, base::driven_by::thread, thread_name);
    try {
      if (!loop || !alarm->set(base::saturating_add(env_.now(), limit)))
        return {{}, false, {errc::unavailable, "no thread can be started to ask it"}};
      const std::lock_guard guard(mutex_);
      stream = loop->connect(where, tls, *this);
      stream_ = stream.get();
    } catch (const std::system_error& failed) {
      return {{}, false, base::shortage_of(failed)};
    }
    parker_.park();
    alarm.reset();
    loop.reset();  // no event comes any more
    if (!answer_.text.empty()) answer_.why = {};
    return std::move(answer_);
  }

 private:
  void on_open() override {
    const std::lock_guard guard(mutex_);
    answer_.was_open = true;
    stream_->write(std::as_bytes(std::span(word_)));
  }
  void on_bytes(std::span<const std::byte> bytes) override {
    const std::lock_guard guard(mutex_);
    if (answer_.text.size() > answer_max) return;
    answer_.text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void on_closed(base::failure why) override { end(std::move(why)); }
  void on_alarm(base::time_point) override {
    end({errc::unavailable, "it does not answer within the op-timeout"});
  }
  void end(base::failure why) {
    {
      const std::lock_guard guard(mutex_);
      if (std::exchange(has_ended_, true)) return;
      answer_.why = std::move(why);
    }
    parker_.signal();
  }
  void flush() noexcept override {}
  bool has_pending_replies() const noexcept override { return true; }

  base::environment& env_;
  const std::string word_;
  base::parker parker_;
  std::mutex mutex_;  // guards everything below
  base::stream* stream_ = nullptr;
  word_answer answer_;
  bool has_ended_ = false;
};

// The time of a sync, which waits until the leader's transactions are executed. 0: it failed.
std::int64_t last_transaction(probe& by) {
  const probe_answer a = by.call(opcode::sync, path_body("/"));
  return a.is_ok() ? a.zxid : 0;
}

// A session of the ensemble is made by a transaction. Other clients' come in between.
std::optional<bool> makes_local_sessions(base::environment& env, const endpoint& there) {
  probe by(env, there);
  for (int i = 0; i < local_session_tries; ++i) {
    const std::int64_t before = last_transaction(by);
    const probe other(env, there);
    const std::int64_t after = last_transaction(by);
    if (before == 0 || after == 0) return {};
    if (after == before) return true;
  }
  return false;
}

}  // namespace

server_facts diagnose_server(base::environment& env, const settings& s, const base::address& at) {
  server_facts out;
  out.name = at.host + ':' + std::to_string(at.port);
  std::optional<base::tls_terms> tls = s.tls;
  if (tls && tls->host.empty()) tls->host = at.host;
  word_answer answer;
  // One that ends a connection as soon as it has taken it may seem not to have taken it.
  const base::time_point until = base::saturating_add(env.now(), s.op_timeout);
  for (int i = 0; i < question_tries && !answer.was_open; ++i) {
    const base::duration left = until - env.now();
    if (i > 0 && left <= base::duration{}) break;
    answer = four_letter_command(env, mode_question).run(at, tls ? &*tls : nullptr, left);
  }
  out.srvr = std::move(answer.text);
  out.unreached = std::move(answer.why);
  out.was_open = answer.was_open;
  out.mode = read_mode(out.srvr);

  endpoint there = s;
  there.servers = {at};
  there.chroot.clear();
  there.attach = attach_to::any;
  there.text = out.name;
  try {
    there.session_timeout = most_asked;
    out.longest = probe(env, there).timeout();
    there.session_timeout = least_asked;
    out.shortest = probe(env, there).timeout();
    there.session_timeout = s.session_timeout;
    out.has_local_sessions = makes_local_sessions(env, there);
  } catch (const lock_error& e) {
    if (out.longest == duration{})
      out.no_session = {e.code(), std::string(e.detail().empty() ? e.what() : e.detail())};
  }
  return out;
}

}  // namespace holdfast::zookeeper
