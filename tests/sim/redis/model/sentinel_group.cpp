#include "tests/sim/redis/model/sentinel_group.hpp"

#include <initializer_list>
#include <utility>

#include "tests/sim/redis/model/resp_writer.hpp"
#include "tests/sim/redis/model/server.hpp"
#include "tests/sim/redis/model/sha1.hpp"

namespace holdfast::sim {
namespace {

constexpr int first_sentinel = 11;  // the number of its model, which its address has
constexpr int port_of_sentinels = 26379;

// Sentinels describe a server by a list of names and values. Those that no client reads are left
// out.
using described_fields = std::initializer_list<std::pair<std::string_view, std::string>>;

void write_fields(resp_writer& out, described_fields all) {
  out.array(all.size() * 2);
  for (const auto& [name, text] : all) {
    out.bulk(name);
    out.bulk(text);
  }
}

}  // namespace

sentinel_group::sentinel_group(const model_redis::wall_clock& clock, int sentinels,
                               const server_address& master,
                               const std::vector<server_address>& replicas) {
  for (int i = 0; i < sentinels; ++i) {
    all_.push_back({std::make_unique<model_redis>(clock, first_sentinel + i),
                    sha1_hex("sentinel " + std::to_string(i + 1)), master, 0, replicas});
    server& s = *at(i).server_;
    s.sentinels = this;
    s.node_number = i;
  }
}

const sentinel_group::sentinel& sentinel_group::of(const server& s) const {
  return of(s.node_number);
}

void sentinel_group::hear(int number, const server_address& master, std::uint64_t epoch) {
  sentinel& s = all_[static_cast<std::size_t>(number)];
  if (epoch <= s.epoch) return;
  s.epoch = epoch;
  const server_address before = std::exchange(s.master, master);
  if (before.ip == master.ip && before.port == master.port) return;
  for (server_address& one : s.replicas)
    if (one.ip == master.ip && one.port == master.port) one = before;
  const auto text = [](const server_address& a) { return a.ip + ' ' + std::to_string(a.port); };
  server& inside = *s.runs->server_;
  inside.send_to_subscribers("+switch-master",
                             std::string(master_name) + ' ' + text(before) + ' ' + text(master));
  inside.deliver_all();
}

std::string_view sentinel_group::id_of(const server& s) const { return of(s).id; }

void sentinel_group::name_master(const server& s, resp_writer& out) const {
  out.array(2);
  out.bulk(of(s).master.ip);
  out.bulk_number(of(s).master.port);
}

void sentinel_group::describe_master(const server& s, resp_writer& out) const {
  const sentinel& by = of(s);
  write_fields(out, {{"name", std::string(master_name)},
                     {"ip", by.master.ip},
                     {"port", std::to_string(by.master.port)},
                     {"flags", "master"},
                     {"config-epoch", std::to_string(by.epoch)},
                     {"num-slaves", std::to_string(by.replicas.size())},
                     {"num-other-sentinels", std::to_string(count() - 1)},
                     {"quorum", std::to_string(count() / 2 + 1)}});
}

void sentinel_group::describe_replicas(const server& s, resp_writer& out) const {
  const sentinel& by = of(s);
  out.array(by.replicas.size());
  for (const server_address& one : by.replicas)
    write_fields(out, {{"name", one.ip + ':' + std::to_string(one.port)},
                       {"ip", one.ip},
                       {"port", std::to_string(one.port)},
                       {"flags", "slave"},
                       {"master-host", by.master.ip},
                       {"master-port", std::to_string(by.master.port)},
                       {"slave-priority", "100"}});
}

void sentinel_group::describe_others(const server& s, resp_writer& out) const {
  out.array(all_.size() - 1);
  for (const sentinel& one : all_) {
    if (&one == &of(s)) continue;
    write_fields(out, {{"name", one.id},
                       {"ip", one.runs->address().ip},
                       {"port", std::to_string(port_of_sentinels)},
                       {"runid", one.id},
                       {"flags", "sentinel"}});
  }
}

}  // namespace holdfast::sim
