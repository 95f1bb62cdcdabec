// Renewals at a server that takes no further connection.
#include "scenario.hpp"
#ifdef HOLDFAST_WITH_REDIS
#include <holdfast/holdfast.hpp>

#include <thread>

#include "testkit/servers/redis_server.hpp"

namespace holdfast::mutants {
namespace {

using namespace std::chrono_literals;
using base::mutant;

// Two connections are all that the client gets: one for commands and one for messages.
std::string a_lock_is_renewed_without_a_third_connection() {
  testkit::redis_server server;
  const auto c = client::open(server.url() + "?ttl=900ms");
  while (server.command({"CLIENT", "LIST"}).text.find("holdfast-messages") == std::string::npos)
    std::this_thread::sleep_for(1ms);
  server.command({"CONFIG", "SET", "maxclients", "3"});  // the third one asks this
  auto held = c.mutex("x").acquire();
  const auto first = held.expires();
  while (!held.loss_token().stop_requested() && held.expires() < first + 2s)
    std::this_thread::sleep_for(5ms);
  return held.held() ? "" : "the lock is lost at the end of its first ttl";
}

constexpr scenario of_renewal[] = {
    {mutant::renewals_wait_for_their_connection, "redis",
     a_lock_is_renewed_without_a_third_connection},
};

}  // namespace

std::span<const scenario> renewal_scenarios() { return of_renewal; }

}  // namespace holdfast::mutants
#else
std::span<const holdfast::mutants::scenario> holdfast::mutants::renewal_scenarios() { return {}; }
#endif
