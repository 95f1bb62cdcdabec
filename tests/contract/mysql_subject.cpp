#ifdef HOLDFAST_WITH_MYSQL
#include "fixture.hpp"
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
    const std::string own = "prefix=" + table_ + '/';
    const bool has_table = !is_named();
    return with_options(with_options(place, has_table ? own + "&table=" + table_ : own), options_);
  }
  std::string short_lived_url() const override {
    if (is_held_by_connections()) return with_options(url(), "idle-timeout=1s&op-timeout=3s");
    return with_options(url(), "ttl=" + std::to_string(short_ttl.count()) + "ms&op-timeout=3s");
  }
  // As if every lease had expired. Locks that connections hold end with these, whoever holds them.
  void lose_leases_of(const holdfast::client& client) override {
    if (is_held_by_connections()) {
      end_connections();
      std::error_code ec;
      EXPECT_TRUE(becomes([&] { return (void)client.holders("any", ec), !ec; }));
      return;
    }
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
  bool is_named() const { return options_.find("strategy=named") != options_.npos; }
  bool is_held_by_connections() const {
    return is_named() || options_.find("strategy=for-update") != options_.npos;
  }
  void end_connections() {
    const auto all = server_.query("SELECT id FROM information_schema.processlist WHERE user='" +
                                   std::string(mariadb_server::user) + "'");
    for (const auto& row : all.rows) server_.kill_connection(std::stoul(row.at(0).value()));
  }

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
