#include "backend/redis/transport/handshake.hpp"

#include <utility>

#include "backend/redis/transport/error_text.hpp"
#include "backend/redis/transport/server_info.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

using base::mutant;
using base::planted;

namespace {

constexpr const char* connection_names[] = {"holdfast-commands", "holdfast-messages",
                                            "holdfast-renewals", "holdfast-probe",
                                            "holdfast-replicas"};

bool is_full(const value& error) noexcept {
  return error.text().starts_with("ERR max number of clients");
}

}  // namespace

void handshake::begin(std::string& out, base::time_point now) {
  server_ = {};
  server_.asked_at = now;
  if (!endpoint_.password.empty()) send_auth(out);
  if (endpoint_.database != 0) send(out, step::select, "SELECT", std::int64_t{endpoint_.database});
  send(out, step::name, "CLIENT", "SETNAME", connection_names[static_cast<unsigned>(lane_)]);
  send(out, step::id, "CLIENT", "ID");
  send(out, step::own_end, "CLIENT", "INFO");
  // Two requests: before Redis 7.0, INFO takes one section.
  send(out, step::server, "INFO", "server");
  send(out, step::history, "INFO", "replication");
}

void handshake::send_auth(std::string& out) {
  if (endpoint_.user.empty()) {
    send(out, step::auth, "AUTH", endpoint_.password);
  } else {
    send(out, step::auth, "AUTH", endpoint_.user, endpoint_.password);
  }
}

// Requests the role of a server, and the proof that it is the right one, without INFO.
void handshake::ask_without_info(std::string& out) {
  if (server_.role == server_role::unknown) send(out, step::role, "HELLO", "2");
  const bool is_listening = lane_ == lane::commands || lane_ == lane::messages;
  if (is_listening || channels_.own().empty()) return;
  published_to_ = channels_.own();
  send(out, step::listener, "PUBLISH", published_to_, "0");
}

handshake::outcome handshake::on_reply(const value& v, std::string& out, base::time_point now) {
  const step s = awaited_.front();
  awaited_.pop_front();
  if (v.is(value::kind::error) && !may_fail(s, v)) {
    fail(v);
    return outcome::failed;
  }
  const std::string_view text = v.is(value::kind::text) ? v.text() : std::string_view();
  switch (s) {
    case step::id: own_id_ = v.integer(); break;
    case step::own_end: read_own_end(text, server_); break;
    case step::server: read_server(text, server_); break;
    case step::history:
      read_replication(text, server_);
      server_.told_at = now;
      if (!server_.is_known()) ask_without_info(out);
      return awaited_.empty() ? outcome::introduced : outcome::goes_on;
    case step::role:
      for (std::size_t i = 0; i + 1 < v.size(); i += 2) {
        if (v[i].text() == "role") read_role(v[i + 1].text(), server_);
        if (v[i].text() == "version") read_version(v[i + 1].text(), server_);
      }
      return awaited_.empty() ? outcome::introduced : outcome::goes_on;
    case step::listener:
      // It proves nothing about an earlier messages connection, which may have been to another
      // server.
      if (v.is(value::kind::integer) && published_to_ == channels_.own())
        server_.has_listener = v.integer() > 0;
      return outcome::introduced;
    case step::own:
      if (v.is(value::kind::error)) channels_.drop_own();
      break;
    case step::kill:
      if (v.is(value::kind::integer)) older_.remove(server_.run_id, killed_.front());
      killed_.pop_front();
      break;
    case step::subscribe: channels_.on_confirmed(v[1].text()); break;
    default: break;
  }
  return outcome_of_step();
}

handshake::outcome handshake::outcome_of_step() noexcept {
  if (!awaited_.empty()) return outcome::goes_on;
  none_older_ = older_.is_clear(server_.run_id) || planted(mutant::predecessor_not_killed);
  return outcome::done;
}

// The user may lack the right to it, or the server is too old to know it.
bool handshake::may_fail(step s, const value& error) noexcept {
  const bool is_needed = s == step::auth || s == step::select || s == step::subscribe;
  return !is_full(error) && !is_needed && (error.is_error("NOPERM") || error.is_error("ERR"));
}

void handshake::fail(const value& v) {
  const error_meaning* const m = meaning_of(v.text());
  is_passing_ = is_full(v) || (m && m->is_passing);
  const errc code = is_passing_ ? errc::unavailable : m ? m->why : errc::refused;
  why_ = {code, explain(v.text())};
}

handshake::outcome handshake::go_on(std::string& out, base::time_point now) {
  if (server_.is_known() && !planted(mutant::predecessor_not_killed))
    for (const std::int64_t id : older_.of(server_.run_id, now)) {
      killed_.push_back(id);
      send(out, step::kill, "CLIENT", "KILL", "ID", id);
    }
  if (lane_ == lane::messages) {
    if (!channels_.own().empty()) send(out, step::own, "SUBSCRIBE", channels_.own());
    channels_.request_missing_plain(
        [&](std::string_view channel) { send(out, step::subscribe, "SUBSCRIBE", channel); });
  }
  return outcome_of_step();
}

void handshake::on_lost(bool was_used, base::time_point now) {
  awaited_.clear();
  killed_.clear();
  const std::int64_t id = std::exchange(own_id_, 0);
  if (was_used) older_.add(server_.run_id, id, now);
}

}  // namespace holdfast::redis
