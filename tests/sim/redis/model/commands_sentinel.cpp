// The commands of a sentinel, which stores nothing.
#include <array>
#include <string_view>

#include "tests/sim/redis/model/command_list.hpp"
#include "tests/sim/redis/model/sentinel_group.hpp"
#include "tests/sim/redis/model/server.hpp"

namespace holdfast::sim {
namespace {

bool names_the_master(const call& c) { return c.argv[2] == sentinel_group::master_name; }

// True: the name is another one, and that was answered.
bool refuses_name(call& c) {
  if (names_the_master(c)) return false;
  c.out.error("ERR No such master with that name");
  return true;
}

void run_sentinel(call& c) { c.out.error("ERR wrong number of arguments for 'sentinel' command"); }

void run_sentinel_myid(call& c) { c.out.bulk(c.on.sentinels->id_of(c.on)); }

void run_sentinel_address(call& c) {
  names_the_master(c) ? c.on.sentinels->name_master(c.on, c.out) : c.out.null_array();
}

void run_sentinel_master(call& c) {
  if (!refuses_name(c)) c.on.sentinels->describe_master(c.on, c.out);
}

void run_sentinel_replicas(call& c) {
  if (!refuses_name(c)) c.on.sentinels->describe_replicas(c.on, c.out);
}

void run_sentinel_sentinels(call& c) {
  if (!refuses_name(c)) c.on.sentinels->describe_others(c.on, c.out);
}

void run_role_of_sentinel(call& c) {
  c.out.array(2);
  c.out.bulk("sentinel");
  c.out.array(1);
  c.out.bulk(sentinel_group::master_name);
}

constexpr std::array list_of_sentinel{
    command{"sentinel", -2, has_subcommands, run_sentinel},
    command{"sentinel|myid", 2, 0, run_sentinel_myid},
    command{"sentinel|get-master-addr-by-name", 3, 0, run_sentinel_address},
    command{"sentinel|master", 3, 0, run_sentinel_master},
    command{"sentinel|replicas", 3, 0, run_sentinel_replicas},
    command{"sentinel|slaves", 3, 0, run_sentinel_replicas},
    command{"sentinel|sentinels", 3, 0, run_sentinel_sentinels},
    command{"role", 1, 0, run_role_of_sentinel},
};

}  // namespace

std::span<const command> sentinel_commands() { return list_of_sentinel; }

}  // namespace holdfast::sim
