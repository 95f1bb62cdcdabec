#ifdef HOLDFAST_WITH_MYSQL
#include "subject.hpp"
#include "testkit/servers/mariadb_server.hpp"
#include "testkit/servers/tcp_proxy.hpp"

namespace contract {
namespace {

using holdfast::testkit::mariadb_server;

mariadb_server& mariadb_of_all_cases() {
  static mariadb_server server({.config = {"max_connections=500"}});
  return server;
}

// Each case has a table and a network of its own.
class mysql_subject final : public subject {
 public:
  explicit mysql_subject(std::string_view options) : options_(options) {
    static int cases = 0;
    server_.go_on();  // a case that failed may have left it stopped
    table_ = "locks_of_case_" + std::to_string(++cases);
  }

  std::string url() const override {
    const std::string place =
        "mysql://" + std::string(mariadb_server::user) + ':' + mariadb_server::password +
        "@127.0.0.1:" + std::to_string(proxy_.port()) + '/' + mariadb_server::database;
    return with_options(with_options(place, "table=" + table_ + "&prefix=" + table_ + '/'),
                        options_);
  }
  std::string short_lived_url() const override {
    return with_options(url(), "ttl=" + std::to_string(short_ttl.count()) + "ms&op-timeout=1s");
  }
  // As if every lease had expired.
  void lose_leases_of(const holdfast::client&) override {
    const std::string table = std::string(mariadb_server::database) + '.' + table_;
    if (options_.find("strategy=insert") != options_.npos) {
      server_.query("DELETE FROM " + table);
      return;
    }
    server_.query("UPDATE " + table + " SET owner=x'', expires_at='1970-01-01'");
    server_.query("DELETE FROM " + table + "_members");
  }
  void begin_outage() override { server_.stop(); }
  void end_outage() override { server_.go_on(); }
  void lose_next_reply() override { proxy_.cut_after(holdfast::testkit::direction::to_client, 0); }

 private:
  const std::string options_;
  std::string table_;
  mariadb_server& server_ = mariadb_of_all_cases();
  holdfast::testkit::tcp_proxy proxy_{server_.port()};
};

}  // namespace

std::unique_ptr<subject> make_mysql_subject(std::string_view options) {
  return std::make_unique<mysql_subject>(options);
}

std::string_view mysql_is_missing() {
  return mariadb_server::installed() ? "" : mariadb_server::not_installed;
}

}  // namespace contract
#endif
