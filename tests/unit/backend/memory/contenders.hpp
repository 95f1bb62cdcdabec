// Parties that ask for shares and permits.
#pragma once
#include "tests/unit/backend/memory/party.hpp"

namespace holdfast::memory {

using core::mode;

inline core::ask share(core::duration ttl = 10s) { return {.ttl = ttl, .how = mode::shared}; }
inline core::ask permits(std::uint32_t count, std::uint32_t of, core::duration ttl = 10s) {
  return {.ttl = ttl, .how = mode::permit, .permits = count, .of = of};
}
inline core::ask once(core::ask how) {
  how.one_attempt = true;
  return how;
}

// One client with one claim that says what it hears at once.
struct caller : party {
  using party::party;
  std::string ask(const core::ask& how) {
    claim->acquire(how);
    return heard.news();
  }
  std::string let_go() {
    release();
    return heard.news();
  }
  std::int64_t number() const { return heard.grant.number; }
};

}  // namespace holdfast::memory
