// The MariaDB server of the stories.
#pragma once
#include <holdfast/holdfast.hpp>

#include <string>

#include "testkit/servers/mariadb_server.hpp"

namespace holdfast::lab {

// One server for all stories of a process, whose database is empty. It belongs to the next play
// that calls this.
testkit::mariadb_server& emptied_mariadb();

// A connection for plain statements and for the library.
struct sql_client {
  explicit sql_client(const testkit::mariadb_server& s) : link(s.link()), own(link.handle()) {}
  testkit::mariadb_link link;
  mysql_connection own;
};

inline constexpr unsigned duplicate_key = 1062, lock_wait_timeout = 1205, deadlock_found = 1213;

}  // namespace holdfast::lab
