// A fresh data directory of MariaDB, which takes seconds to make and is copied by each server.
#pragma once
#include <string>

namespace holdfast::testkit {

// The directory that mariadb-install-db has made, once for each build and version of the server.
// The first caller of all processes has it made, the others wait. Throws std::runtime_error with
// the program's output when it fails.
std::string mariadb_template();

// The lines of my.cnf that the template was made with; a server on a copy needs the same.
extern const char* const mariadb_template_config;

}  // namespace holdfast::testkit
