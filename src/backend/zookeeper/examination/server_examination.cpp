#include "backend/zookeeper/examination/server_examination.hpp"

#include <utility>

#include "backend/zookeeper/examination/probe.hpp"
#include "backend/zookeeper/examination/word_question.hpp"

namespace holdfast::zookeeper {

namespace {

using namespace std::chrono_literals;

constexpr duration least_asked = 1ms,
                   most_asked = 24h;  // servers grant what is within their bounds
constexpr int local_session_tries = 5;
constexpr int question_tries = 3;

// Of a sync, which waits for what the leader has executed. 0: it failed.
std::int64_t last_transaction(probe& by) {
  std::string body;
  append_path(body, "/");
  const probe_answer a = by.call(opcode::sync, std::move(body));
  return a.is_ok() ? a.zxid : 0;
}

// A session of the ensemble is made by a transaction. Other clients' come in between.
std::optional<bool> makes_local_sessions(core::environment& env, const endpoint& there) {
  probe by(env, there);
  bool is_known = false;
  for (int i = 0; i < local_session_tries; ++i) {
    const std::int64_t before = last_transaction(by);
    const probe other(env, there);
    const std::int64_t after = last_transaction(by);
    if (before == 0 || after == 0) return {};
    if (after == before) return true;
    is_known = true;
  }
  return is_known ? std::optional(false) : std::nullopt;
}

}  // namespace

server_facts examine_server(core::environment& env, const settings& s, const core::address& at) {
  server_facts out;
  out.name = at.host + ':' + std::to_string(at.port);
  std::optional<core::tls_terms> tls = s.tls;
  if (tls && tls->host.empty()) tls->host = at.host;
  word_answer answer;
  // One that ends a connection as soon as it has taken it may seem not to have taken it.
  for (int i = 0; i < question_tries && answer.text.empty() && !answer.was_open; ++i)
    answer = ask_word(env, at, tls ? &*tls : nullptr, mode_question, s.op_timeout);
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
      out.no_session = {e.code(), std::string(e.remedy().empty() ? e.what() : e.remedy())};
  }
  return out;
}

}  // namespace holdfast::zookeeper
