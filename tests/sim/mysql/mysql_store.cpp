#include "tests/sim/mysql/mysql_store.hpp"

#include <algorithm>
#include <utility>

#include "backend/mysql/backend.hpp"
#include "cohort/claim_record.hpp"
#include "tests/sim/machine/network.hpp"
#include "tests/sim/machine/world.hpp"
#include "tests/sim/mysql/sim_connector.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::microseconds epoch_of_server{1'700'000'000'000'000};

seam::backend open_on_model(const seam::open_args& o) {
  return mysql::open(o, [](io::client_reactor& r, const mysql::endpoint& e) {
    return std::make_unique<sim_connector>(r, e);
  });
}

}  // namespace

mysql_store::mysql_store(world& w)
    : world_(w),
      strategy_(*strategy_named(w.schedule.layout)),
      server_(*this, [this] { return model_mariadb::time_us{wall().count()}; }) {
  // As an operator has made them: a client that is cut while it does is not opened.
  for (const std::string& text : strategy_.schema) server_.make_table(text);
  // A client that creates a row while another one has locked it may lose a connection.
  if (!strategy_.create_row || !w.schedule.is_quiet()) return;
  for (const std::string& name : w.lock_names()) server_.make_table(strategy_.create_row(name));
}

std::string mysql_store::url(int client) const {
  const auto idle = std::chrono::duration_cast<std::chrono::seconds>(world_.schedule.ttl);
  return "mysql://" + name_of_client(client) + "@server/test?tls=0&" +
         std::string(strategy_.options) + "&connections=16&idle-timeout=" +
         std::to_string(strategy_.is_of_connections() ? idle.count() : 30) + "s&";
}

std::span<const seam::scheme> mysql_store::schemes() const {
  static constexpr seam::scheme all[] = {{"mysql", open_on_model, ""}};
  return all;
}

std::string mysql_store::name_of_client(int machine) const {
  return "client" + std::to_string(machine);
}

// Where each lock ends with its connection, a lost waiter ahead has the lock for as long as a lost
// holder.
moment mysql_store::longest_pause() const {
  const bool pins = strategy_.is_of_connections();
  return strategy_.longest_pause + (pins ? moment(world_.schedule.ttl * 2) : 0ns);
}

// A connection that may still execute something is killed for two op-timeouts.
moment mysql_store::recovery_max() const { return world_.schedule.op_timeout * 3 + 4s; }

std::chrono::microseconds mysql_store::wall() const {
  return epoch_of_server +
         std::chrono::floor<std::chrono::microseconds>(world_.time.now() + clock_offset_);
}

model_mariadb::time_us mysql_store::now() const {
  return std::chrono::floor<std::chrono::microseconds>(world_.time.now()).count();
}

// Connections.

int mysql_store::connect(peer& p, const std::string&) {
  link& l = links_[++last_handle_];
  l.to = &p;
  l.id = server_.connect(now());
  handles_[l.id] = last_handle_;
  look_ahead();
  return last_handle_;
}

void mysql_store::receive(int connection, std::string_view bytes) {
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

void mysql_store::serve(int connection, const std::string& content) {
  const auto found = links_.find(connection);
  if (found == links_.end()) return;
  link& l = found->second;
  if (l.user.empty()) {
    l.user = content;
    return l.to->deliver(frame_of(std::to_string(l.id)));
  }
  server_.execute(l.id, content, now());
  if (server_.has_killed())
    world_.later(world_.chance.between(0ns, world_.schedule.delay_max), [this] {
      world_.change_server([&] { server_.end_killed(); });
      go_on();
    });
  go_on();
  look_ahead();
}

// The client's end is gone, and perhaps it does not know it: a lock of the connection is free.
void mysql_store::disconnect(int connection) {
  const auto found = links_.find(connection);
  if (found == links_.end()) return;
  const std::uint64_t id = found->second.id;
  if (holds_a_lock(id)) world_.watch->taken(world_.lease_max());
  links_.erase(found);
  handles_.erase(id);
  world_.later(0ns, [this, id] {
    world_.change_server([&] { server_.disconnect(id); });
    go_on();
    look_ahead();
  });
}

void mysql_store::on_reply(std::uint64_t connection, const model_reply& r) {
  const auto found = handles_.find(connection);
  if (found != handles_.end()) links_.at(found->second).to->deliver(frame_of(content_of(r)));
}

void mysql_store::on_closed(std::uint64_t connection) {
  const auto found = handles_.find(connection);
  if (found == handles_.end()) return;
  peer& to = *links_.at(found->second).to;
  links_.erase(found->second);
  handles_.erase(found);
  to.kicked();
}

std::string_view mysql_store::user_of(std::uint64_t connection) const {
  const auto found = handles_.find(connection);
  return found == handles_.end() ? std::string_view() : links_.at(found->second).user;
}

bool mysql_store::is_given_up(std::uint64_t connection) const {
  const auto found = handles_.find(connection);
  return found == handles_.end() || !static_cast<const pipe*>(links_.at(found->second).to)->alive();
}

bool mysql_store::is_kept_by_the_gone(const std::string& table, const std::string& name) const {
  const std::uint64_t by = server_.locks_row(table, name);
  return by != 0 && is_given_up(by);
}

// A transaction ends with a message of its client, or with the connection, of which both may be
// late. Until then the statements of other clients wait for the row that it has locked. Where that
// is how clients wait for the lock itself, it excuses nothing; nor where there is no trouble.
bool mysql_store::is_held_up(int lock) const {
  if (strategy_.is_of_connections() || world_.schedule.is_quiet()) return false;
  return server_.awaits_row(world_.lock_name(lock));
}

// Requests are not told apart. A lock of a connection changes after the request for it, which has
// no id, and the server shows the connection.
rule_set mysql_store::unjudged() const {
  if (!strategy_.is_of_connections()) return {rule::old};
  return {rule::old, rule::owner, rule::shown, rule::broken, rule::spin};
}

bool mysql_store::proves_ends() const { return world_.schedule.is_quiet(); }

// Statements that waited, each as an event of its own: no request of another client's did it. A
// server that stands still does neither.
void mysql_store::go_on() {
  world_.later(0ns, [this] {
    if (stands()) return look_ahead();
    bool goes_on = true;
    while (goes_on) world_.change_server([&] { goes_on = server_.go_on(now()); });
    look_ahead();
  });
}

bool mysql_store::stands() const { return world_.time.now() < world_.server_stands_until(); }

void mysql_store::look_ahead() {
  const model_mariadb::time_us next = server_.next();
  moment at = moment::max();
  if (next != model_mariadb::never)
    at = std::max<moment>(world_.time.now(), std::chrono::microseconds(next + 1));
  // What has come meanwhile is done first.
  if (stands()) at = world_.server_stands_until() + 1ms;
  if (at >= looks_at_) return;
  looks_at_ = at;
  world_.time.at(at, [this, at] {
    if (at != looks_at_) return;  // an earlier one came in between
    looks_at_ = moment::max();
    if (!stands()) world_.change_server([&] { server_.advance(now()); });
    go_on();
    look_ahead();
  });
}

std::string mysql_store::show(std::string_view bytes) {
  std::string out;
  frame_reader r;
  r.add(bytes);
  while (const auto content = r.next()) out += (out.empty() ? "" : " | ") + *content;
  return out;
}

bool mysql_store::holds_a_lock(std::uint64_t connection) const {
  return strategy_.is_of_connections() &&
         (server_.locks().has_one(connection) || server_.has_locked_row(connection));
}

// A row of a lock that nobody has names no owner, or does not exist. Those of claims that crashed
// stay until the lock is requested.
std::vector<std::string> mysql_store::left(bool of_crashed) {
  std::vector<std::string> out;
  for (const std::string& lock : server_.locks().held()) out.push_back(lock);
  if (strategy_.is_of_connections())
    for (const std::string& lock : server_.locked_rows()) out.push_back(lock);
  for (const owning_table& each : strategy_.owners) {
    const sql_table* const t = of_crashed ? nullptr : server_.table(each.name);
    for (const sql_cells& row : t ? t->rows : std::vector<sql_cells>())
      if (!row[t->column("owner")].bytes.empty()) out.push_back(row[t->column(each.key)].bytes);
  }
  return out;
}

std::string mysql_store::claim_of(const detail::turn& t) const {
  return strategy_.claim_of(*this, *t.of->claim);
}

}  // namespace holdfast::sim
