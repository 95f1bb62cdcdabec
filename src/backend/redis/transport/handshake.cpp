#include "backend/redis/transport/handshake.hpp"

#include <utility>

#include "backend/redis/transport/error_text.hpp"
#include "backend/redis/transport/server_info.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

using core::mutant;
using core::planted;

namespace {

constexpr std::size_t older_max = 32;
constexpr const char* connection_names[] = {"holdfast-commands", "holdfast-messages",
                                            "holdfast-renewals"};

bool is_full(const value& error) noexcept {
  return error.text().starts_with("ERR max number of clients");
}

}  // namespace

void handshake::begin(std::string& out) {
  if (!endpoint_.password.empty()) send_auth(out);
  if (endpoint_.database != 0) {
    awaited_.push_back(step::select);
    command(out, 2) << "SELECT" << std::int64_t{endpoint_.database};
  }
  awaited_.push_back(step::name);
  command(out, 3) << "CLIENT"
                  << "SETNAME" << connection_names[static_cast<unsigned>(lane_)];
  awaited_.push_back(step::id);
  command(out, 2) << "CLIENT"
                  << "ID";
  awaited_.push_back(step::info);
  command(out, 2) << "INFO"
                  << "server";
}

void handshake::send_auth(std::string& out) {
  awaited_.push_back(step::auth);
  if (endpoint_.user.empty()) {
    command(out, 2) << "AUTH" << endpoint_.password;
  } else {
    command(out, 3) << "AUTH" << endpoint_.user << endpoint_.password;
  }
}

void handshake::send_kill(std::string& out, std::int64_t id) {
  awaited_.push_back(step::kill);
  command(out, 4) << "CLIENT"
                  << "KILL"
                  << "ID" << id;
}

handshake::outcome handshake::on_reply(const value& v, std::string& out) {
  const step s = awaited_.front();
  awaited_.pop_front();
  if (v.is(value::kind::error) && !may_fail(s, v)) {
    fail(v);
    return outcome::failed;
  }
  switch (s) {
    case step::id: own_id_ = v.integer(); break;
    case step::info: on_server_info(v.is(value::kind::text) ? v.text() : "", out); break;
    case step::kill:
      if (v.is(value::kind::integer)) older_ids_.erase(older_ids_.begin());
      break;
    case step::subscribe: channels_.on_confirmed(v[1].text()); break;
    default: break;
  }
  if (!awaited_.empty()) return outcome::goes_on;
  if (!older_ids_.empty() && !planted(mutant::predecessor_not_killed)) none_older_ = false;
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

// INFO is answered last of the first steps: what follows depends on it. A server that was started
// anew counts its clients anew: an old id may belong to another client, and what was under way to
// the old server is gone with it.
void handshake::on_server_info(std::string_view info, std::string& out) {
  std::string run_id(info_field(info, "run_id"));
  const bool is_known = !run_id.empty() && !run_id_.empty();
  if (is_known && run_id != run_id_) {
    older_ids_.clear();
    none_older_ = true;
  } else if (is_known && !planted(mutant::predecessor_not_killed)) {
    for (const std::int64_t id : older_ids_) send_kill(out, id);
  }
  if (!run_id.empty()) run_id_ = std::move(run_id);
  if (lane_ != lane::messages) return;
  channels_.request_missing([&](std::string_view channel) {
    awaited_.push_back(step::subscribe);
    command(out, 2) << "SUBSCRIBE" << channel;
  });
}

void handshake::on_lost(bool was_used) {
  awaited_.clear();
  const std::int64_t id = std::exchange(own_id_, 0);
  if (!was_used) return;
  if (id == 0) {
    none_older_ = false;
  } else if (older_ids_.size() < older_max) {
    older_ids_.push_back(id);
  }
}

}  // namespace holdfast::redis
