#include "tests/sim/redis/model/model_redis.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "tests/sim/redis/model/request_parser.hpp"
#include "tests/sim/redis/model/script_engine.hpp"
#include "tests/sim/redis/model/server.hpp"

namespace holdfast::sim {
namespace {

void serve(server& s, connection& c, std::string_view bytes) {
  std::vector<std::string_view> argv;
  std::string complaint;
  while (!c.closing && !c.waits) {
    const std::string_view before = bytes;
    const parsed got = parse_request(bytes, argv, complaint);
    if (got == parsed::part) break;
    if (got == parsed::broken) {
      resp_writer(c.out).error("ERR " + complaint);
      c.closing = true;
    } else if (s.must_wait(c, argv)) {
      c.held = true;
      s.held.push_back(c.handle);
      bytes = before;
      break;
    } else {
      s.process(c, argv);
    }
  }
  c.unread.assign(bytes);
  if (!c.out.empty()) s.owes(c);
}

// The requests of its client.
void take(server& s, connection& c, std::string_view bytes) {
  if (c.held || c.waits) {
    c.unread.append(bytes);
  } else if (c.unread.empty()) {
    serve(s, c, bytes);
  } else {
    const std::string joined = std::exchange(c.unread, {}).append(bytes);
    serve(s, c, joined);
  }
}

void finish(server& s, connection& c) {
  s.deliver_all();
  if (c.closing) s.close(c.handle, true);
}

std::vector<int> waiting(const server& s) {
  std::vector<int> out;
  for (const auto& [handle, one] : s.connections)
    if (one->waits) out.push_back(handle);
  return out;
}

}  // namespace

model_redis::model_redis(wall_clock clock, int number)
    : server_(std::make_unique<server>(std::move(clock), number)) {}
model_redis::~model_redis() = default;

int model_redis::connect(peer& end) {
  connection& c = server_->open(end);
  const int handle = c.handle;
  if (server_->connections.size() > server_->max_clients) {
    end.deliver("-ERR max number of clients reached\r\n");
    server_->close(handle, true);
  }
  return handle;
}

void model_redis::receive(int handle, std::string_view bytes) {
  connection* const c = server_->find(handle);
  if (!c) return;
  take(*server_, *c, bytes);
  finish(*server_, *c);
}

void model_redis::run_held() {
  for (const int handle : std::exchange(server_->held, {})) {
    connection* const c = server_->find(handle);
    if (!c) continue;
    c->held = false;
    take(*server_, *c, {});
    finish(*server_, *c);
  }
}

void model_redis::answer_waits() {
  const std::vector<int> all = waiting(*server_);
  if (!all.empty()) server_->look_at_clock();
  for (const int handle : all) {
    connection* const c = server_->find(handle);
    if (!c || !c->waits || !server_->is_over(*c->waits)) continue;
    resp_writer(c->out).integer(server_->replicas_with(c->waits->sent));
    c->waits.reset();
    server_->owes(*c);
    take(*server_, *c, {});
    finish(*server_, *c);
  }
}

void model_redis::abort_waits() {
  for (const int handle : waiting(*server_)) {
    connection& c = *server_->find(handle);
    resp_writer(c.out).error(
        "UNBLOCKED force unblock from blocking operation, instance state changed (master -> "
        "replica?)");
    c.waits.reset();
    c.closing = true;
    server_->owes(c);
    finish(*server_, c);
  }
}

void model_redis::disconnect(int handle) { server_->close(handle, false); }

std::string model_redis::address(int handle) const {
  return "127.0.0.1:" + std::to_string(20'000 + handle % 40'000);
}

std::string model_redis::execute(int handle, std::span<const std::string_view> argv) {
  connection* const c = server_->find(handle);
  if (!c) return {};
  server_->process(*c, argv);
  std::string answer = std::exchange(c->out, {});
  finish(*server_, *c);
  return answer;
}

void model_redis::restart(kept what) {
  server_->close_all();
  if (what == kept::what_was_saved) server_->databases = server_->saved;
  if (what == kept::nothing) flushall();
  server_->begin_life();
}

void model_redis::resync() { server_->databases = server_->saved; }
void model_redis::save() { server_->saved = server_->databases; }
void model_redis::script_flush() { server_->scripts.clear(); }

void model_redis::flushall() {
  for (keyspace& k : server_->databases) k.clear();
}

void model_redis::expire_due() {
  server_->look_at_clock();
  for (keyspace& k : server_->databases) k.drop_due(server_->now_ms());
}

void model_redis::set_maxmemory_full(bool full) { server_->memory_full = full; }
void model_redis::set_readonly(bool readonly) { server_->readonly = readonly; }
void model_redis::set_loading(bool loading) { server_->loading = loading; }
void model_redis::set_disk_full(bool full) { server_->disk_full = full; }
void model_redis::set_too_few_replicas(bool few) { server_->too_few_replicas = few; }
void model_redis::set_busy(bool busy) { server_->busy = busy; }
void model_redis::set_cluster_down(bool down) { server_->cluster_down = down; }
void model_redis::set_stale(bool stale) { server_->stale = stale; }
void model_redis::set_keeps_log(bool keeps) { server_->keeps_log = keeps; }
void model_redis::close_subscribers() { server_->close_subscribers(); }
void model_redis::close_all() { server_->close_all(); }
std::size_t model_redis::connections() const { return server_->connections.size(); }

std::vector<std::string> model_redis::key_names() {
  expire_due();
  std::vector<std::string> out;
  server_->databases[0].each([&](const std::string& key, const value&) { out.push_back(key); });
  std::sort(out.begin(), out.end());
  return out;
}

void model_redis::set_maxclients(std::size_t most) { server_->max_clients = most; }

void model_redis::shorten_loops(bool s) { script_engine::of_this_thread().shorten_loops(s); }

void model_redis::edit_scripts(editing e) { script_engine::of_this_thread().edit(std::move(e)); }
void model_redis::let_transactions_come_apart(bool apart) noexcept {
  server::transactions_come_apart = apart;
}

void model_redis::require_password(std::string user, std::string password) {
  server_->passwords[std::move(user)] = std::move(password);
}

void model_redis::require_no_password() { server_->passwords.clear(); }

void model_redis::forbid(std::string command) { server_->forbidden.insert(std::move(command)); }
void model_redis::allow(const std::string& command) { server_->forbidden.erase(command); }

std::size_t model_redis::keys() {
  expire_due();
  std::size_t all = 0;
  for (const keyspace& k : server_->databases) all += k.size();
  return all;
}

namespace {

constexpr auto before_all = std::numeric_limits<std::int64_t>::min();  // nothing has lapsed

}  // namespace

std::optional<string_seen> model_redis::string_at(std::string_view key) {
  const value* const v = server_->databases[0].find(key, before_all);
  const std::string* const text = v ? std::get_if<std::string>(&v->data) : nullptr;
  if (!text) return std::nullopt;
  return string_seen{*text, v->expires_ms};
}

std::vector<std::string_view> model_redis::members_at(std::string_view key) {
  std::vector<std::string_view> out;
  const value* const v = server_->databases[0].find(key, before_all);
  const sorted_set* const set = v ? std::get_if<sorted_set>(&v->data) : nullptr;
  if (!set) return out;
  out.reserve(set->elements().size());
  for (const auto& e : set->elements()) out.push_back(e.member);
  return out;
}

std::vector<std::pair<std::string_view, double>> model_redis::scored_at(std::string_view key) {
  std::vector<std::pair<std::string_view, double>> out;
  const value* const v = server_->databases[0].find(key, before_all);
  if (const sorted_set* const set = v ? std::get_if<sorted_set>(&v->data) : nullptr)
    for (const auto& e : set->elements()) out.emplace_back(e.member, e.score);
  return out;
}

std::string_view model_redis::field_at(std::string_view key, std::string_view field) {
  const value* const v = server_->databases[0].find(key, before_all);
  const hash* const fields = v ? std::get_if<hash>(&v->data) : nullptr;
  const std::string* const found = fields ? fields->find(field) : nullptr;
  return found ? std::string_view(*found) : std::string_view();
}

std::vector<std::string_view> model_redis::fields_at(std::string_view key) {
  std::vector<std::string_view> out;
  const value* const v = server_->databases[0].find(key, before_all);
  const hash* const h = v ? std::get_if<hash>(&v->data) : nullptr;
  if (h)
    for (const auto& [name, text] : h->fields()) out.push_back(name);
  return out;
}

std::vector<std::string_view> model_redis::items_at(std::string_view key) {
  std::vector<std::string_view> out;
  const value* const v = server_->databases[0].find(key, before_all);
  if (const list* const l = v ? std::get_if<list>(&v->data) : nullptr)
    out.assign(l->begin(), l->end());
  return out;
}

std::optional<std::int64_t> model_redis::end_of(std::string_view key) {
  const value* const v = server_->databases[0].find(key, before_all);
  return v ? std::optional(v->expires_ms) : std::nullopt;
}

bool model_redis::has_listener(std::string_view channel) const {
  return server_->channels.contains(channel);
}

bool model_redis::is_connected(int handle) const { return server_->connections.contains(handle); }

const std::string& model_redis::run_id() const { return server_->run_id; }
const server_address& model_redis::address() const { return server_->address; }
std::int64_t model_redis::replication_offset() const { return server_->replicates.offset; }

}  // namespace holdfast::sim
