// One server, as a URL names it, and how long it may take.
#pragma once
#include <optional>
#include <string>

#include "base/environment.hpp"
#include "base/network.hpp"

namespace holdfast::redis {

struct endpoint {
  base::address where;
  std::optional<base::tls_terms> tls;
  bool has_tls_host = false;  // the certificate has a name of its own: not that of the address
  std::string user;
  std::string password;
  int database = 0;
  base::duration retry_base{};  // the first pause before a new connection, after which it doubles
  base::duration connect_timeout{};
  base::duration op_timeout{};
  int replicas = 0;          // that must have what the server answers before that counts
  bool by_majority = false;  // so many that most servers have it
  base::duration probe{};    // how often it is asked where the name leads; 0: never
  std::string text;          // the URL without secrets

  // Another server of the same kind is meant from here on.
  void move_to(const base::address& to) {
    where = to;
    if (tls && !has_tls_host) tls->host = to.host;
  }
  const base::tls_terms* tls_or_none() const noexcept { return tls ? &*tls : nullptr; }
};

// Each has a connection of its own: what waits for a push or renews is held up by nothing else. A
// probe only looks where the name leads now, and that for replicas only asks what they have.
enum class lane : unsigned char { commands, messages, renewals, probe, replicas };

}  // namespace holdfast::redis
