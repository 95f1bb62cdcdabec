// The settings of a mysql: URL.
#pragma once
#include <string>

#include "backend/mysql/strategies/insert/columns.hpp"
#include "backend/mysql/transport/endpoint.hpp"
#include "claim/recipe.hpp"
#include "seam/registry.hpp"

namespace holdfast::mysql {

struct settings : endpoint {
  std::string strategy;     // of strategies/strategies.hpp
  std::string table;        // of the strategies that have one
  std::string prefix;       // of the name of every lock
  insert::columns records;  // of the table of strategy `insert`
  claims::timing rules;
  std::string host;  // of this machine, shown by inspect()
  std::int64_t process = 0;
};

// Throws lock_error (bad_url, bad_option).
settings read_settings(const seam::open_args&);

}  // namespace holdfast::mysql
