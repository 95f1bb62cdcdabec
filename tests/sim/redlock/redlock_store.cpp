#include "tests/sim/redlock/redlock_store.hpp"

#include <algorithm>
#include <charconv>

#include "backend/redis/layouts/redlock/codec.hpp"
#include "backend/redis/layouts/redlock/redlock_claim.hpp"
#include "cohort/claim_record.hpp"
#include "cohort/turn.hpp"
#include "tests/sim/machine/world.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::microseconds start_of_masters{1'700'000'000'000'000};
constexpr moment age_of_masters = 1000s;  // when the schedule begins
constexpr std::string_view record_of_master = "holdfast:redlock";
constexpr std::string_view host_of_master = "master";

}  // namespace

redlock_store::redlock_store(world& w) : world_(w), can_(redis::redlock::codec().facts().can) {
  dice d(w.schedule.seed ^ 0x6d617374657273);
  const bool are_new = d.chance(0.1) && !w.schedule.is_quiet();
  const bool differ = d.chance(0.7);
  for (int i = 0; i < w.schedule.servers; ++i) {
    master& m = masters_.emplace_back();
    m.runs = std::make_unique<model_redis>([this, &m] { return wall(m); }, i);
    m.clock_offset = age_of_masters;
    m.keeps_log = d.chance(0.3);
    m.runs->set_keeps_log(m.keeps_log);
    const std::int64_t number = 1000 + (differ ? d.between(0, 1) * d.between(0, 100) : 0);
    if (!are_new) prepare(m, number);
  }
}

// What clients of an earlier time have left.
void redlock_store::prepare(master& m, std::int64_t number) {
  struct : peer {
    void deliver(std::string_view) override {}
    void kicked() override {}
  } nobody_listens;
  const int c = m.runs->connect(nobody_listens);
  const std::string text = std::to_string(number);
  const std::string most = std::to_string(max_ttl().count() / 1'000'000);
  const std::string begun = (m.keeps_log ? "before " : "") + m.runs->run_id();
  const std::vector<std::string_view> hset{"HSET", record_of_master, "number", text, "max-ttl",
                                           most,   "begun-at",       begun};
  m.runs->execute(c, hset);
  m.runs->disconnect(c);
}

moment redlock_store::max_ttl() const { return world_.schedule.ttl * 2; }

moment redlock_store::node_timeout() const {
  const plan& p = world_.schedule;
  const moment usual = std::clamp<moment>(p.ttl / 10, 10ms, 500ms);
  return p.delay_max * 6 > usual ? p.ttl / 4 : usual;
}

// Servers that were restarted or have lost their record do not vote for a max-ttl. They are asked
// again every other second.
moment redlock_store::recovery_max() const {
  return max_ttl() * 2 + 8s + world_.schedule.op_timeout * 3;
}

std::string redlock_store::url(int) const {
  std::string hosts;
  for (int i = 0; i < world_.schedule.servers; ++i)
    hosts += (i > 0 ? "," : "") + std::string(host_of_master) + std::to_string(i);
  return "redlock://" + hosts + "?max-ttl=" + std::to_string(max_ttl().count() / 1'000'000) +
         "ms&node-timeout=" + std::to_string(node_timeout().count() / 1000) + "us&";
}

bool redlock_store::accepts(const std::string& host) const {
  return of(host.back() - '0').deaths == 0;
}

int redlock_store::connect(peer& p, const std::string& host) {
  const int server = host.back() - '0';
  return at(server).connect(p) * handles + server;
}

void redlock_store::receive(int connection, std::string_view bytes) {
  of(connection).runs->receive(connection / handles, bytes);
}

void redlock_store::disconnect(int connection) {
  of(connection).runs->disconnect(connection / handles);
}

bool redlock_store::is_connected(int connection) const {
  return of(connection).runs->is_connected(connection / handles);
}

bool redlock_store::is_in_service(int connection) const {
  return is_connected(connection) && world_.time.now() >= of(connection).stands_until;
}

moment redlock_store::stands_until(int connection) const { return of(connection).stands_until; }

void redlock_store::learn(std::string_view bytes, connection_use& use) const {
  use.asks = bytes.find("\r\nEVAL") != bytes.npos;
  use.listens = bytes.find("\r\nSUBSCRIBE\r\n") != bytes.npos;
}

std::string redlock_store::claim_of(const detail::turn& t) const {
  return static_cast<const redis::redlock_claim&>(*t.of->claim).owner_text;
}

std::chrono::microseconds redlock_store::wall(const master& m) const {
  return start_of_masters +
         std::chrono::floor<std::chrono::microseconds>(world_.time.now() + m.clock_offset);
}

std::int64_t redlock_store::now_ms(int server) const { return wall(of(server)).count() / 1000; }

bool redlock_store::is_well(int server) const {
  const master& m = of(server);
  const moment now = world_.time.now();
  return m.deaths == 0 && now >= m.stands_until && now >= m.refuses_until + 1300ms;
}

std::int64_t redlock_store::number_at(int server) {
  const std::string_view text = at(server).field_at(record_of_master, "number");
  std::int64_t out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

// A clock that was set back makes leases longer.
std::vector<std::string> redlock_store::left(bool) {
  std::vector<std::string> out;
  if (world_.schedule.has(trouble::clock_back)) return out;
  for (master& m : masters_)
    for (std::string& key : m.runs->key_names())
      if (key != record_of_master) out.push_back(std::move(key));
  return out;
}

}  // namespace holdfast::sim
