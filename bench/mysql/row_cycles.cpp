// mysql/w1-named and mysql/w1-for-update: one worker with a lock of its own that a connection
// holds, tokens included, against the raw statements on one blocking connection.
#include <holdfast/holdfast.hpp>

#include <memory>
#include <string>

#include "pace.hpp"
#include "row.hpp"
#include "testkit/servers/mariadb_server.hpp"

namespace bench {
namespace {

using holdfast::testkit::mariadb_link;
using holdfast::testkit::mariadb_server;

constexpr int cycles_between_clocks = 64;

struct raw_statements {
  std::string take, give_back;
};

struct own_lock {
  own_lock(const std::string& strategy, raw_statements statements)
      : raw(std::move(statements)),
        client(holdfast::client::open(server.url() + "?strategy=" + strategy)),
        lock(client.mutex("order")),
        link(server.link()) {
    lock.acquire().release();  // which creates what is locked
    link.query("SET autocommit=0");
  }

  mariadb_server server{{.flushes = true}};
  const raw_statements raw;
  holdfast::client client;
  holdfast::mutex lock;
  mariadb_link link;
};

std::vector<contest> against_statements(const std::string& strategy, raw_statements raw) {
  if (!mariadb_server::installed()) throw row_skipped(mariadb_server::not_installed);
  const auto own = std::make_shared<own_lock>(strategy, std::move(raw));
  const auto bare = [own](seconds length) {
    return outcome{1e9 / nanoseconds_per_cycle<cycles_between_clocks>(length,
                                                                      [&] {
                                                                        own->link.query(
                                                                            own->raw.take);
                                                                        own->link.query(
                                                                            own->raw.give_back);
                                                                      }),
                   {}};
  };
  const auto ours = [own](seconds length) {
    return outcome{1e9 /
                       nanoseconds_per_cycle<cycles_between_clocks>(length,
                                                                    [&] {
                                                                      own->lock.acquire().release();
                                                                    }),
                   {}};
  };
  return {{"", bare, ours}};
}

}  // namespace

std::vector<contest> mysql_named() {
  return against_statements("named", {"SELECT GET_LOCK('holdfast-order',0),UUID_SHORT()",
                                      "SELECT RELEASE_LOCK('holdfast-order')"});
}

std::vector<contest> mysql_for_update() {
  return against_statements(
      "for-update",
      {"SELECT 1,UUID_SHORT() FROM holdfast_row_locks WHERE name='order' FOR UPDATE NOWAIT",
       "COMMIT"});
}

}  // namespace bench
