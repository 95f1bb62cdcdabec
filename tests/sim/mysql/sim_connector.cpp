#include "tests/sim/mysql/sim_connector.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace holdfast::sim {

using base::event_queue;
using base::time_point;

namespace {

bool is_plain(char c) noexcept { return c >= ' ' && c <= '~' && c != '\''; }

// Texts as such in place of hexadecimal literals: for a trace, and for the judge, which looks for
// owners in the statements.
std::string readable(std::string_view statement) {
  constexpr std::string_view begin = "x'";
  std::string out;
  for (std::size_t at = statement.find(begin); at != statement.npos; at = statement.find(begin)) {
    const std::size_t end = statement.find('\'', at + begin.size());
    const std::string text = unhexed(statement.substr(at + begin.size(), end - at - begin.size()));
    const bool is_text = std::ranges::all_of(text, is_plain);
    out.append(statement.substr(0, at));
    out.append(is_text ? '\'' + text + '\'' : std::string(statement.substr(at, end + 1 - at)));
    statement.remove_prefix(end + 1);
  }
  return out.append(statement);
}

}  // namespace

sim_connector::sim_connector(io::client_reactor& r, const mysql::endpoint& e)
    : reactor_(r), where_(e), alarm_(r.env().make_alarm(*this, "holdfast-my-sim")) {}

sim_connector::~sim_connector() = default;

std::unique_ptr<mysql::sql_connection> sim_connector::connect(std::size_t server,
                                                              mysql::connection_events& e,
                                                              base::driven_by by,
                                                              base::failure& why) {
  const time_point due = base::saturating_add(reactor_.env().now(), where_.connect_timeout);
  auto made = std::make_unique<sim_connection>(*this, e, due);
  if (!made->begin(where_.servers[server], by, why)) return nullptr;
  wake_by(due);
  return made;
}

void sim_connector::wake_by(time_point t) {
  if (t >= alarm_at_) return;
  alarm_at_ = t;
  alarm_->set(t);
}

// on_closed() destroys its connection, and perhaps others.
void sim_connector::on_alarm(time_point) {
  reactor_.run([&](time_point now, event_queue& events) {
    alarm_at_ = base::never;
    std::vector<sim_connection*> ended;
    for (sim_connection* const c : all_) {
      if (c->id_ == 0 && c->due_ <= now && !c->end_.code)
        c->end_ = {errc::unavailable, "no answer within the connect-timeout"};
      if (c->end_.code) {
        ended.push_back(c);
      } else if (c->id_ == 0) {
        wake_by(c->due_);
      }
    }
    for (sim_connection* const c : ended)
      if (std::ranges::find(all_, c) != all_.end()) {
        c->leave();
        c->events_.on_closed(c->end_, now, events);
      }
  });
}

sim_connection::sim_connection(sim_connector& h, mysql::connection_events& e, time_point due)
    : home_(h), events_(e), place_(h.all_.insert(h.all_.end(), this)), due_(due) {}

sim_connection::~sim_connection() {
  leave();
  home_.all_.erase(place_);
}

void sim_connection::leave() noexcept {
  if (const auto left = std::exchange(stream_, nullptr)) left->leave();
}

bool sim_connection::begin(const base::address& to, base::driven_by by, base::failure& why) {
  stream_ = home_.reactor_.connect(*this, to, nullptr, by, why);
  return stream_ != nullptr;
}

// No value of a statement has a semicolon: texts are hexadecimal there.
void sim_connection::execute(mysql::sql_statement statement) {
  std::string text = statement.text();
  awaited_ = 1 + static_cast<std::size_t>(std::ranges::count(text, ';'));
  std::ranges::replace(text, ';', '\n');
  if (stream_) stream_->write(frame_of(readable(text)));
}

void sim_connection::on_reply(mysql::sql_reply r, time_point now, event_queue& events) {
  if (r.is_ok() && --awaited_ > 0) return earlier_.push_back(std::move(r));
  r.earlier = std::exchange(earlier_, {});
  events_.on_reply(r, now, events);
}

void sim_connection::close() {
  if (end_.code) return;
  leave();
  end_ = {errc::closed, "closed"};
  home_.wake_by(home_.reactor_.env().now());
}

void sim_connection::on_open(time_point, event_queue&) {
  stream_->write(frame_of(home_.where_.user));
}

void sim_connection::on_bytes(std::span<const std::byte> bytes, time_point now,
                              event_queue& events) {
  reader_.add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  while (const auto content = stream_ ? reader_.next() : std::nullopt) {
    if (id_ == 0) {
      id_ = std::stoull(*content);
      events_.on_open(now, events);
    } else {
      on_reply(read_reply(*content), now, events);
    }
  }
}

void sim_connection::on_closed(base::failure why, time_point now, event_queue& events) {
  stream_.reset();
  if (!end_.code) events_.on_closed(std::move(why), now, events);
}

}  // namespace holdfast::sim
