// What campaigns do with each MariaDB server, whatever the strategy, and what clients leave in it.
#pragma once
#include <string>
#include <vector>

#include "contention/fault.hpp"
#include "testkit/servers/mariadb_server.hpp"

namespace holdfast::torture {

using namespace contention;

// The ids of the clients' connections for which a condition of PROCESSLIST is true.
std::vector<std::string> connections_of(testkit::mariadb_server&,
                                        const std::string& condition = "TRUE");
std::vector<std::string> tables_of(testkit::mariadb_server&);  // of the database of the locks
void kill_connection(testkit::mariadb_server&, const std::string& id);
void kill_any_connection(testkit::mariadb_server&, dice&);

// The same fault, which ends without an error where the server does not reply.
fault ended_by_an_outage(fault);

// Connections, transactions and rows. Expired rows are left until they are pruned.
std::vector<std::string> left_in_mariadb(testkit::mariadb_server&);
void prune(const std::string& url);

}  // namespace holdfast::torture
