// The servers that a URL names, one of which is the primary, and how long they may take.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/environment.hpp"
#include "base/log.hpp"
#include "base/network.hpp"

namespace holdfast::mysql {

struct endpoint {
  std::vector<base::address> servers;  // at least one; with a path: a Unix socket
  std::optional<base::tls_terms> tls;
  std::string user;
  std::string password;
  std::string database;
  std::size_t connections = 0;    // at the most, for the statements of locks
  base::duration idle_timeout{};  // the server closes a connection that is idle for so long
  base::duration row_wait{};      // the longest wait of a statement for a row's lock
  base::duration retry_base{};    // the first pause before a new connection; doubled each time
  base::duration connect_timeout{};
  base::duration op_timeout{};
  std::string text;  // the URL without secrets
  base::log_sink log;
};

}  // namespace holdfast::mysql
