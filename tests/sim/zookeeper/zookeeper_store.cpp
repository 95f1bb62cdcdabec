#include "tests/sim/zookeeper/zookeeper_store.hpp"

#include "cohort/claim_record.hpp"
#include "tests/sim/machine/world.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

constexpr std::string_view host_prefix = "server";

int server_in(const std::string& host) {
  return host.back() - '0';  // there are at most six
}

zk::ensemble_options options_of(const plan& p) {
  zk::ensemble_options out;
  out.servers = p.servers;
  out.observers = p.observers;
  out.tick = p.tick;
  out.container_check = p.ttl;
  out.serves_reads_alone = p.serves_reads_alone;
  out.parked_share = p.servers > 1 ? p.parked_share : 0;
  return out;
}

}  // namespace

zookeeper_store::zookeeper_store(world& w)
    : world_(w),
      layout_(*zookeeper_layout_named(w.schedule.layout)),
      servers_(*this, options_of(w.schedule)) {}

std::string zookeeper_store::url(int client) const {
  const bool knows_one = world_.schedule.knows_one_server;
  std::string hosts;
  for (int id = 1; id <= servers_.servers(); ++id) {
    if (knows_one && id != client % servers_.servers() + 1) continue;
    hosts += (hosts.empty() ? "" : ",") + std::string(host_prefix) + std::to_string(id);
  }
  return "zookeeper://" + hosts + "?unsafe=1&layout=" + std::string(layout_.name) +
         "&session-timeout=" + std::to_string(world_.schedule.ttl.count()) +
         "ms&attach=" + (world_.schedule.attaches_to_leader ? "leader&" : "any&");
}

// A client that was stopped needs a new session before its users are in the queue.
moment zookeeper_store::longest_pause() const {
  return world_.schedule.ttl * 2 + world_.schedule.delay_max * 20 + 2s;
}

bool zookeeper_store::accepts(const std::string& host) const {
  return servers_.accepts(server_in(host));
}

int zookeeper_store::connect(peer& p, const std::string& host) {
  return servers_.connect(p, server_in(host));
}

moment zookeeper_store::now() { return world_.time.now(); }

dice& zookeeper_store::chance() { return world_.chance; }

moment zookeeper_store::delay() { return world_.delay() / 2; }

void zookeeper_store::change(const std::function<void()>& what) {
  const std::size_t before = servers_.agreed_count();
  what();
  if (servers_.agreed_count() != before) world_.watch->after_server(nullptr);
}

void zookeeper_store::at(moment t, std::function<void()> what) {
  world_.time.at(t, [this, d = std::move(what)] { change(d); });
}

// As an event of its own: who asked for a change does not matter to the judge, since a session ends
// with a request that does not name its nodes.
void zookeeper_store::receive(int connection, std::string_view bytes) {
  at(now(), [this, connection, b = std::string(bytes)] { servers_.receive(connection, b); });
}

void zookeeper_store::disconnect(int connection) {
  servers_.forget_peer(connection);
  at(now(), [this, connection] { servers_.disconnect(connection); });
}

// Anywhere: a server puts frames together from their pieces.
std::size_t zookeeper_store::cut_at(std::string_view bytes, double share) const {
  return static_cast<std::size_t>(share * static_cast<double>(bytes.size()));
}

// All bytes; what is text can be read.
std::string zookeeper_store::show(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c > ' ' && byte < 0x7f && c != '\\') {
      out += c;
    } else {
      (out += '\\') += digits[byte >> 4];
      out += digits[byte & 15];
    }
  }
  return out;
}

std::string zookeeper_store::claim_of(const detail::turn& t) const {
  return layout_.claim_of(*t.of->claim);
}

// The parents of locks may stay until they are reaped.
// The nodes of a crashed client go with its session.
std::vector<std::string> zookeeper_store::left(bool) {
  std::vector<std::string> out;
  for (int i = 0; i < world_.schedule.locks; ++i) {
    const lock_nodes of_lock =
        layout_.read(servers_.agreed(), '/' + world_.lock_name(i), world_.schedule.permits);
    for (const auto* all : {&of_lock.holders, &of_lock.waiters})
      for (const contender& c : *all) out.push_back(c.path);
  }
  return out;
}

}  // namespace holdfast::sim
