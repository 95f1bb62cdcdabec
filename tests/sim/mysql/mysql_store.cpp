#include "tests/sim/mysql/mysql_store.hpp"

#include <algorithm>
#include <utility>

#include "backend/mysql/backend.hpp"
#include "cohort/claim_record.hpp"
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
      server_(w, strategy_, [this] { return model_mariadb::time_us{wall().count()}; }) {
  if (w.schedule.servers > 1)
    roles_ = std::make_unique<mysql_roles>(w, strategy_, [this] {
      return model_mariadb::time_us{wall().count()};
    });
}

std::string mysql_store::url(int client) const {
  const auto idle = std::chrono::duration_cast<std::chrono::seconds>(world_.schedule.ttl);
  const std::string hosts =
      roles_ ? mysql_roles::host_of(0) + ',' + mysql_roles::host_of(1) : "server";
  return "mysql://" + name_of_client(client) + '@' + hosts + "/test?tls=0&" +
         std::string(strategy_.options) + "&connections=" + std::to_string(strategy_.connections) +
         "&idle-timeout=" + std::to_string(strategy_.is_of_connections() ? idle.count() : 30) +
         "s&";
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

// Connections.

int mysql_store::connect(peer& p, const std::string& host) {
  return roles_ ? roles_->connect(p, host) : server_.connect(p);
}

void mysql_store::receive(int connection, std::string_view bytes) {
  roles_ ? roles_->receive(connection, bytes) : server_.receive(connection, bytes);
}

void mysql_store::disconnect(int connection) {
  roles_ ? roles_->disconnect(connection) : server_.disconnect(connection);
}

bool mysql_store::is_connected(int connection) const {
  return roles_ ? roles_->is_connected(connection) : server_.is_connected(connection);
}

std::vector<const model_mariadb*> mysql_store::servers() const {
  if (!roles_) return {&server_.model()};
  return {&roles_->at(0).model(), &roles_->at(1).model()};
}

// A transaction ends with a message of its client, or with the connection, of which both may be
// late. Until then the statements of other clients wait for the row that it has locked. Where that
// is how clients wait for the lock itself, it excuses nothing; nor where there is no trouble.
bool mysql_store::is_held_up(int lock) const {
  if (strategy_.is_of_connections() || world_.schedule.is_quiet()) return false;
  return leader().model().awaits_row(world_.lock_name(lock));
}

// A release of a share or of permits follows its client's request for the same lock. The
// transaction of that request waits for those of the other clients: each takes eight trips once it
// has locked the row.
moment mysql_store::longest_release() const {
  if (strategy_.is_of_connections() || world_.schedule.locks_are == kind::mutex) return 0ns;
  return world_.longest_delay() * 8 * world_.schedule.clients;
}

// Requests are not told apart. A lock of a connection changes after the request for it, which has
// no id, and the server shows the connection. Where statements share commits, no user wants several
// locks at once.
rule_set mysql_store::unjudged() const {
  if (strategy_.connections == 1) return {rule::old, rule::group};
  if (!strategy_.is_of_connections()) return {rule::old};
  return {rule::old, rule::owner, rule::shown, rule::broken, rule::spin};
}

bool mysql_store::proves_ends() const { return world_.schedule.is_quiet(); }

std::string mysql_store::show(std::string_view bytes) {
  std::string out;
  frame_reader r;
  r.add(bytes);
  while (const auto content = r.next()) out += (out.empty() ? "" : " | ") + *content;
  return out;
}

// A row of a lock that nobody has names no owner, or does not exist. Those of claims that crashed
// stay until the lock is requested.
std::vector<std::string> mysql_store::left(bool of_crashed) {
  std::vector<std::string> out;
  for (const std::string& lock : server().locks().held()) out.push_back(lock);
  if (strategy_.is_of_connections())
    for (const std::string& lock : server().locked_rows()) out.push_back(lock);
  for (const owning_table& each : strategy_.owners) {
    const sql_table* const t = of_crashed ? nullptr : server().table(each.name);
    for (const sql_cells& row : t ? t->rows : std::vector<sql_cells>())
      if (!row[t->column("owner")].bytes.empty()) out.push_back(row[t->column(each.key)].bytes);
  }
  return out;
}

std::string mysql_store::claim_of(const detail::turn& t) const {
  return strategy_.claim_of(*this, *t.of->claim);
}

}  // namespace holdfast::sim
