// What a lock on a real MariaDB may do: clients compete, one of them behind a network that fails.
#include "scenario.hpp"

#ifdef HOLDFAST_WITH_MYSQL
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "testkit/servers/mariadb_server.hpp"
#include "testkit/servers/tcp_proxy.hpp"

namespace holdfast::mutants {
namespace of_mariadb {

using namespace std::chrono_literals;
using base::mutant;
using testkit::direction;
using testkit::mariadb_server;
using testkit::tcp_proxy;

// Its clock can be set, and its tables are empty at first.
struct on_server {
  on_server() {
    server().set_clock({});
    server().query("DROP DATABASE test");
    server().query("CREATE DATABASE test");
    server().query("USE test");
  }
  static mariadb_server& server() {
    static mariadb_server one({.clock_shim = true});
    return one;
  }
  static std::string url_at(int port, const std::string& options) {
    return "mysql://holdfast:secret@127.0.0.1:" + std::to_string(port) +
           "/test?retry-base=1ms&strategy=" + options;
  }
  static client open(const std::string& options) {
    return client::open(url_at(server().port(), options));
  }
};

std::string two_clients_of(const std::string& strategy) {
  const client a = on_server::open(strategy), b = on_server::open(strategy);
  const lease held = a.mutex("x").acquire();
  std::error_code ec;
  const lease second = b.mutex("x").try_acquire({}, ec);
  return second ? "two clients hold a lock of strategy " + strategy : "";
}

std::string a_held_row_is_not_taken() {
  const on_server here;
  const std::string wrong = two_clients_of("row");
  return wrong.empty() ? two_clients_of("insert") : wrong;
}

std::string a_client_whose_clock_is_ahead_waits() {
  const on_server here;
  on_server::server().set_clock(-1h);
  return two_clients_of("row");
}

std::string a_cleaned_up_lock_repeats_no_token() {
  const on_server here;
  const auto acquire_in_new_client = [] {
    return on_server::open("row").mutex("x").acquire().token();
  };
  const std::int64_t before = acquire_in_new_client();
  (void)on_server::open("row").prune();
  on_server::server().set_clock(-1h);
  return acquire_in_new_client() > before ? "" : "a token is used again";
}

std::string a_renewal_of_a_broken_lock_fails() {
  const on_server here;
  for (const char* strategy : {"row", "insert"}) {
    const client c = on_server::open(strategy);
    lease held = c.mutex("x").acquire({.renew = renewal::manual});
    on_server::server().query(std::string(strategy) == "row"
                                  ? "UPDATE holdfast_locks SET owner=x'', expires_at='1970-01-01'"
                                  : "DELETE FROM holdfast_records");
    std::error_code ec;
    held.extend(60s, ec);
    if (!ec) return "a lock that another client may have is renewed";
  }
  return {};
}

// The connections so far receive nothing any more; new ones work.
void black_hole(tcp_proxy& network) {
  network.set_both({.hold = true});
  network.set(direction::to_server, {}, testkit::applies_to::new_connections);
  network.set(direction::to_client, {}, testkit::applies_to::new_connections);
}

std::string a_connection_that_was_given_up_holds_nothing() {
  const on_server here;
  tcp_proxy network(on_server::server().port());
  const client cut_off =
      client::open(on_server::url_at(network.port(), "named&idle-timeout=10m&op-timeout=1s"));
  const client other = on_server::open("named");
  lease held = cut_off.mutex("x").acquire();
  black_hole(network);
  std::error_code ec;
  held.release(ec);
  const lease next = other.mutex("x").try_acquire_for(8s);
  return next ? "" : "the server keeps a connection that its client has given up";
}

// Neither replies nor the end of its connection reach the holder.
std::string a_silent_server_ends_the_lock_in_time() {
  const on_server here;
  tcp_proxy network(on_server::server().port());
  const client cut_off = client::open(on_server::url_at(network.port(), "named&idle-timeout=1s"));
  const client other = on_server::open("named");
  const lease held = cut_off.mutex("x").acquire();
  network.set_both({.hold = true});
  const lease next = other.mutex("x").try_acquire_for(60s);
  const bool both = next && held.held();
  network.set_both({});
  return both ? "two clients hold the lock" : "";
}

// The server grants the lock to a waiter that receives nothing, and ends its connection. Then the
// waiter receives that grant.
std::string a_stale_grant_is_not_believed() {
  const on_server here;
  tcp_proxy network(on_server::server().port());
  const client cut_off = client::open(on_server::url_at(network.port(), "named"));
  const client other = on_server::open("named");
  lease first = other.mutex("x").acquire();
  std::atomic<bool> is_believed = false;
  std::jthread waiter([&](std::stop_token stop) {
    std::error_code ec;
    const lease stale = cut_off.mutex("x").try_acquire_for(60s, {}, std::move(stop), ec);
    is_believed = stale ? true : false;
  });
  const std::string waits =
      "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE='User lock'";
  on_server::server().wait_until(waits, "1");
  const auto waiting_id = on_server::server().query(
      "SELECT ID FROM information_schema.PROCESSLIST WHERE STATE='User lock'");
  network.set(direction::to_client, {.hold = true});
  first.release();
  on_server::server().wait_until(waits, "0");
  on_server::server().kill_connection(std::stoul(waiting_id.text()));
  const lease second = other.mutex("x").try_acquire_for(60s);
  network.set(direction::to_client, {});
  const auto waits_again = [&] { return on_server::server().query(waits).number() > 0; };
  while (!is_believed && !waits_again()) std::this_thread::sleep_for(1ms);
  waiter.request_stop();
  return second && is_believed ? "a waiter believes a grant that has ended" : "";
}

std::string a_held_connection_sends_heartbeats() {
  const on_server here;
  const client c = on_server::open("named&idle-timeout=3s");
  const lease held = c.mutex("x").acquire();
  const auto begun = held.expires();
  while (held.held() && held.expires() < begun + 3s) std::this_thread::sleep_for(1ms);
  return held.held() ? "" : "the server closes the connection as an idle one";
}

// Without the server nothing is shown: what is planted counts as noticed.
template <std::string (*Play)(), mutant Planted>
std::string if_installed() {
  if (mariadb_server::installed()) return Play();
  return base::planted(Planted) ? mariadb_server::not_installed : "";
}

#define HOLDFAST_ON_SERVER(mutant, play) \
  { mutant, "server_mysql", if_installed<play, mutant> }
constexpr scenario all_on_server[] = {
    HOLDFAST_ON_SERVER(mutant::row_taken_unexpired, a_held_row_is_not_taken),
    HOLDFAST_ON_SERVER(mutant::row_number_unread, a_held_row_is_not_taken),
    HOLDFAST_ON_SERVER(mutant::expiry_by_client_clock, a_client_whose_clock_is_ahead_waits),
    HOLDFAST_ON_SERVER(mutant::numbers_pruned, a_cleaned_up_lock_repeats_no_token),
    HOLDFAST_ON_SERVER(mutant::affected_rows_ignored, a_renewal_of_a_broken_lock_fails),
    HOLDFAST_ON_SERVER(mutant::lost_mysql_connection_not_killed,
                       a_connection_that_was_given_up_holds_nothing),
    HOLDFAST_ON_SERVER(mutant::idle_timeout_ignored, a_silent_server_ends_the_lock_in_time),
    HOLDFAST_ON_SERVER(mutant::waited_grant_believed, a_stale_grant_is_not_believed),
    HOLDFAST_ON_SERVER(mutant::heartbeat_omitted, a_held_connection_sends_heartbeats),
};
#undef HOLDFAST_ON_SERVER

}  // namespace of_mariadb

std::span<const scenario> mysql_server_scenarios() { return of_mariadb::all_on_server; }

}  // namespace holdfast::mutants
#else
namespace holdfast::mutants {
std::span<const scenario> mysql_server_scenarios() { return {}; }
}  // namespace holdfast::mutants
#endif
