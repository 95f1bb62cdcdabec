// Contenders that ask for shares and permits.
#pragma once
#include "tests/unit/backend/memory/contender.hpp"

namespace holdfast::memory {

inline seam::acquire_request share(base::duration ttl = 10s) {
  return {.ttl = ttl, .mode = lock_mode::shared};
}
inline seam::acquire_request permits(std::uint32_t count, std::uint32_t of,
                                     base::duration ttl = 10s) {
  return {.ttl = ttl, .mode = lock_mode::permit, .permits = count, .total_permits = of};
}
inline seam::acquire_request once(seam::acquire_request how) {
  how.one_attempt = true;
  return how;
}

// One client with one claim that says what it hears at once.
struct caller : contender {
  using contender::contender;
  std::string ask(const seam::acquire_request& how) {
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
