#include "torture/sentinel_partition.hpp"

#include <chrono>
#include <string>
#include <thread>

#include "torture/redis_refusals.hpp"

namespace holdfast::torture {

using namespace std::chrono_literals;
using testkit::redis_server;
using testkit::sentinel_servers;

namespace {

void replicate_as(sentinel_servers& all, const std::string& user) {
  for (std::size_t i = 0; i < sentinel_servers::servers; ++i)
    send_until_answered(all.server(i), {"CONFIG", "SET", "masteruser", user});
}

// The sentinels log in as the user testkit, and do not count an error as a reply to PING. The
// replicas log in as a user of their own, which this master rejects.
void isolate_master(sentinel_servers& all, redis_server& master) {
  for (std::size_t i = 0; i < sentinel_servers::servers; ++i)
    send_until_answered(all.server(i),
                        {"ACL", "SETUSER", "replicator", "on", "nopass", "~*", "&*", "+@all"});
  replicate_as(all, "replicator");
  send_until_answered(master, {"ACL", "SETUSER", "testkit", "-ping"});
  send_until_answered(master, {"ACL", "SETUSER", "replicator", "off"});
  send_until_answered(master, {"CLIENT", "KILL", "TYPE", "replica"});
}

// A server that is started again does not know the replicas' user.
void rejoin_master(sentinel_servers& all, redis_server& master) {
  send_until_answered(master, {"ACL", "SETUSER", "replicator", "on"});
  send_until_answered(master, {"ACL", "SETUSER", "testkit", "+ping"});
  replicate_as(all, "testkit");
}

void wait_until_replaced(sentinel_servers& all, const redis_server& former) {
  all.wait_until_promoted();
  for (std::size_t i = 0; i < sentinel_servers::servers; ++i)
    if (&all.server(i) != &all.master() && &all.server(i) != &former)
      all.wait_until_replica(all.server(i));
}

}  // namespace

void cut_off_the_master(sentinel_servers& all, dice& d) {
  redis_server& master = all.master();
  const auto time_after = d.between(20ms, 1s);
  try {
    isolate_master(all, master);
    wait_until_replaced(all, master);
  } catch (const testkit::redis_silent&) {
    rejoin_master(all, master);
    throw;
  }
  std::this_thread::sleep_for(time_after);
  rejoin_master(all, master);
}

}  // namespace holdfast::torture
