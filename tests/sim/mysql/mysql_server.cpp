#include "tests/sim/mysql/mysql_server.hpp"

#include <algorithm>
#include <utility>

#include "backend/mysql/transport/error_text.hpp"
#include "tests/sim/machine/network.hpp"
#include "tests/sim/machine/world.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

mysql_server::mysql_server(world& w, const played_strategy& s, wall_clock wall, int number)
    : world_(w), strategy_(s), number_(number), model_(*this, std::move(wall), number + 1) {
  // As an operator has made them: a client that is cut while it does is not opened.
  for (const std::string& text : s.schema) model_.make_table(text);
  if (w.schedule.deadlock_share > 0)
    model_.draw_errors([this](std::uint64_t connection) { return drawn_error(connection); });
  // A client that creates a row while another one has locked it may lose a connection.
  if (!s.create_row || !w.schedule.is_quiet()) return;
  for (const std::string& name : w.lock_names()) model_.make_table(s.create_row(name));
}

model_mariadb::time_us mysql_server::now() const {
  return std::chrono::floor<std::chrono::microseconds>(world_.time.now()).count();
}

int mysql_server::connect(peer& p) {
  link& l = links_[++last_handle_];
  l.to = &p;
  l.id = model_.connect(now());
  handles_[l.id] = last_handle_;
  look_ahead();
  return last_handle_;
}

void mysql_server::receive(int connection, std::string_view bytes) {
  const auto found = links_.find(connection);
  if (found == links_.end()) return;
  found->second.reader.add(bytes);
  // The connection may end with each of them.
  while (const auto content =
             links_.contains(connection) ? links_.at(connection).reader.next() : std::nullopt) {
    // As an event of its own where no request names the claims that it concerns.
    if (strategy_.is_of_connections()) {
      world_.later(0ns, [this, connection, c = *content] {
        world_.change_server([&] { serve(connection, c); });
      });
    } else {
      serve(connection, *content);
    }
  }
}

void mysql_server::serve(int connection, const std::string& content) {
  const auto found = links_.find(connection);
  if (found == links_.end()) return;
  link& l = found->second;
  if (l.user.empty()) {
    l.user = content;
    return l.to->deliver(frame_of(std::to_string(l.id)));
  }
  model_.execute(l.id, content, now());
  note_writes();
  if (model_.has_killed())
    world_.later(world_.chance.between(0ns, world_.schedule.delay_max), [this] {
      world_.change_server([&] { model_.end_killed(); });
      go_on();
    });
  go_on();
  look_ahead();
}

// The client's end is gone, and perhaps it does not know it: a lock of the connection is free.
void mysql_server::disconnect(int connection) {
  const auto found = links_.find(connection);
  if (found == links_.end()) return;
  const std::uint64_t id = found->second.id;
  const bool counts = world_.store->leading_server() == number_;
  if (counts && holds_a_lock(id)) world_.watch->taken(world_.lease_max());
  links_.erase(found);
  handles_.erase(id);
  world_.later(0ns, [this, id] {
    world_.change_server([&] { model_.disconnect(id); });
    go_on();
    look_ahead();
  });
}

void mysql_server::on_reply(std::uint64_t connection, const model_reply& r) {
  const auto found = handles_.find(connection);
  if (found != handles_.end()) links_.at(found->second).to->deliver(frame_of(content_of(r)));
}

void mysql_server::on_closed(std::uint64_t connection) {
  const auto found = handles_.find(connection);
  if (found == handles_.end()) return;
  peer& to = *links_.at(found->second).to;
  links_.erase(found->second);
  handles_.erase(found);
  to.kicked();
}

std::string_view mysql_server::user_of(std::uint64_t connection) const {
  const auto found = handles_.find(connection);
  return found == handles_.end() ? std::string_view() : links_.at(found->second).user;
}

bool mysql_server::is_given_up(std::uint64_t connection) const {
  const auto found = handles_.find(connection);
  return found == handles_.end() || !static_cast<const pipe*>(links_.at(found->second).to)->alive();
}

bool mysql_server::is_kept_by_the_gone(const std::string& table, const std::string& name) const {
  const std::uint64_t by = model_.locks_row(table, name);
  return by != 0 && is_given_up(by);
}

// Statements that waited, each as an event of its own: no request of another client's did it. A
// server that stands still does neither.
void mysql_server::go_on() {
  world_.later(0ns, [this] {
    if (stands()) return look_ahead();
    bool goes_on = true;
    while (goes_on) world_.change_server([&] { goes_on = model_.go_on(now()); });
    note_writes();
    look_ahead();
  });
}

bool mysql_server::stands() const { return world_.time.now() < world_.server_stands_until(); }

void mysql_server::look_ahead() {
  const model_mariadb::time_us next = model_.next();
  moment at = moment::max();
  if (next != model_mariadb::never)
    at = std::max<moment>(world_.time.now(), std::chrono::microseconds(next + 1));
  // The server first handles the statements that arrived while it stood still.
  if (stands()) at = world_.server_stands_until() + 1ms;
  if (at >= looks_at_) return;
  looks_at_ = at;
  world_.time.at(at, [this, at] {
    if (at != looks_at_) return;  // an earlier one came in between
    looks_at_ = moment::max();
    if (!stands()) world_.change_server([&] { model_.advance(now()); });
    go_on();
    look_ahead();
  });
}

void mysql_server::note_writes() {
  if (std::exchange(changes_noted_, model_.changes()) != model_.changes() && on_written)
    on_written();
}

bool mysql_server::holds_a_lock(std::uint64_t connection) const {
  return strategy_.is_of_connections() &&
         (model_.locks().has_one(connection) || model_.has_locked_row(connection));
}

// A client repeats what was refused so after pauses, and a withdrawal after a second.
unsigned mysql_server::drawn_error(std::uint64_t connection) {
  if (world_.is_healed() || !world_.chance.chance(world_.schedule.deadlock_share)) return 0;
  const moment until = world_.time.now() + 2500ms + world_.round_trips();
  if (const machine* const m = world_.machine_of(user_of(connection)))
    world_.excused.add(*m, until, until, true);
  return world_.chance.chance(0.5) ? mysql::error::deadlock : mysql::error::lock_wait_timeout;
}

}  // namespace holdfast::sim
