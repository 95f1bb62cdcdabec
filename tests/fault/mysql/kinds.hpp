// The strategies of locks, each with a client whose statements go through a network of the test.
#pragma once
#include <chrono>
#include <memory>
#include <ostream>
#include <string>

#include "testkit/eventually.hpp"
#include "testkit/servers/mariadb_proxy.hpp"
#include "tests/fault/mysql/fixture.hpp"

namespace holdfast::mysql_test {

using namespace std::chrono_literals;

struct lock_kind {
  const char* name;  // of the case
  const char* strategy;
  lock_mode mode = lock_mode::exclusive;

  // A connection holds it: it ends with that.
  bool is_pinned() const {
    return std::string(strategy) == "named" || std::string(strategy) == "for-update";
  }
  friend std::ostream& operator<<(std::ostream& to, const lock_kind& k) { return to << k.name; }
};

inline constexpr lock_kind exclusive_kinds[] = {
    {"row", "row"},
    {"insert", "insert"},
    {"for_update", "for-update"},
    {"named", "named"},
};
inline constexpr lock_kind shared_kinds[] = {
    {"row_shared", "row", lock_mode::shared},
    {"for_update_shared", "for-update", lock_mode::shared},
};

struct name_of_kind {
  template <class Info>
  std::string operator()(const Info& i) const {
    return std::string(i.param.name) + "_mysql";
  }
};

// One lock "job" of a client `mine`, whose statements go through `proxy`; `other` competes for it
// as a writer.
class on_kind : public on_mariadb, public testing::WithParamInterface<lock_kind> {
 protected:
  static std::string url_at(int port, const std::string& options = {}) {
    return "mysql://holdfast:secret@127.0.0.1:" + std::to_string(port) +
           "/test?outage-timeout=30s&retry-base=1ms&strategy=" + GetParam().strategy +
           (options.empty() ? "" : "&" + options);
  }
  static std::string url(const std::string& options = {}) {
    return url_at(server().port(), options);
  }
  static bool is_pinned() { return GetParam().is_pinned(); }

  // In the mode of the kind. Empty, with or without a code: not acquired.
  static lease attempt(const client& c, std::error_code& ec) {
    if (GetParam().mode == lock_mode::shared)
      return c.shared_mutex("job").try_acquire_shared({}, ec);
    return c.mutex("job").try_acquire({}, ec);
  }
  static lease wait_for(const client& c, std::error_code& ec) {
    if (GetParam().mode == lock_mode::shared)
      return c.shared_mutex("job").try_acquire_shared_for(60s, {}, ec);
    return c.mutex("job").try_acquire_for(60s, {}, ec);
  }
  static lease attempt_of_writer(const client& c, std::error_code& ec) {
    return GetParam().mode == lock_mode::shared ? c.shared_mutex("job").try_acquire({}, ec)
                                                : c.mutex("job").try_acquire({}, ec);
  }
  static lease wait_of_writer(const client& c) {
    return GetParam().mode == lock_mode::shared ? c.shared_mutex("job").try_acquire_for(60s)
                                                : c.mutex("job").try_acquire_for(60s);
  }

  // While a lease is held no writer gets the lock. If the server has freed the lock of a
  // connection, the holder is notified, and the next token is larger.
  static void expect_excludes(const lease& held, const client& other, const std::string& when) {
    std::error_code ec;
    lease second = attempt_of_writer(other, ec);
    if (!second) return;
    EXPECT_TRUE(is_pinned()) << "two hold it, " << when;
    EXPECT_GT(second.token(), held.token()) << when;
    EXPECT_TRUE(testkit::eventually([&] { return !held.held(); })) << "two hold it, " << when;
    second.release();
  }
};

}  // namespace holdfast::mysql_test
