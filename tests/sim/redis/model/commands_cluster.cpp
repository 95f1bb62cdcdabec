// What a node of a cluster knows of it, and the leave to use a slot that is on its way.
#include <array>
#include <string_view>

#include "tests/sim/redis/model/command_list.hpp"
#include "tests/sim/redis/model/redis_cluster.hpp"
#include "tests/sim/redis/model/server.hpp"

namespace holdfast::sim {
namespace {

constexpr std::string_view is_no_node = "ERR This instance has cluster support disabled";

void run_cluster(call& c) { c.out.error("ERR wrong number of arguments for 'cluster' command"); }

void run_cluster_nodes(call& c) {
  c.on.cluster ? c.out.bulk(c.on.cluster->nodes_text(c.on)) : c.out.error(is_no_node);
}

// For the next command, or for all of a MULTI that follows.
void run_asking(call& c) {
  if (!c.on.cluster) return c.out.error(is_no_node);
  c.by.asking = 2;
  c.out.status("OK");
}

constexpr unsigned of_nodes = not_in_scripts | while_loading;

constexpr std::array list_of_cluster{
    command{"cluster", -2, of_nodes | has_subcommands, run_cluster},
    command{"cluster|nodes", 2, of_nodes, run_cluster_nodes},
    command{"asking", 1, of_nodes, run_asking},
};

}  // namespace

std::span<const command> cluster_commands() { return list_of_cluster; }

}  // namespace holdfast::sim
