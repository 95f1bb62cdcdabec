#include "backend/mysql/settings.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <tuple>
#include <utility>

#include "tests/unit/backend/settings_fixture.hpp"
#include "tests/unit/seam/documented_options.hpp"

namespace holdfast::mysql {
namespace {

using namespace std::chrono_literals;

using settings_unit::refusal;

settings settings_of_mysql(std::string_view text, std::string_view password = {}) {
  return settings_unit::settings_of(read_settings, text, password);
}

refusal refusal_by_mysql(std::string_view text) {
  return settings_unit::refusal_by(read_settings, text);
}

TEST(mysql_settings, of_a_plain_url) {
  const settings s = settings_of_mysql("mysql://me@h1,h2:3307/shop");
  ASSERT_EQ(s.servers.size(), 2u);
  EXPECT_EQ(s.servers[0].host, "h1");
  EXPECT_EQ(s.servers[0].port, 3306);
  EXPECT_EQ(s.servers[1].port, 3307);
  EXPECT_EQ(s.database, "shop");
  EXPECT_EQ(s.user, "me");
  EXPECT_EQ(s.strategy, "row");
  EXPECT_EQ(s.table, "holdfast_locks");
  EXPECT_EQ(s.prefix, "");
  EXPECT_EQ(s.connections, 16u);
  EXPECT_EQ(s.retry_base, 50ms);
  EXPECT_EQ(s.idle_timeout, 30s);
  EXPECT_EQ(s.connect_timeout, 5s);
}

TEST(mysql_settings, name_this_process_for_those_who_look_at_its_locks) {
  const settings s = settings_of_mysql("mysql://h/shop");
  EXPECT_EQ(s.process, ::getpid());
  EXPECT_FALSE(s.host.empty());
}

TEST(mysql_settings, keep_the_log_of_the_client) {
  EXPECT_TRUE(settings_unit::keep_the_log(read_settings, "mysql://me@h1/shop"));
}

TEST(mysql_settings, docs_options_has_the_defaults) {
  const auto values = [](const std::string& query) {
    const settings s = settings_of_mysql("mysql://h/shop?" + query);
    return std::tuple(s.strategy, s.table, s.idle_timeout, s.retry_base, s.records.key,
                      s.records.note);
  };
  const auto rows = settings_unit::documented_defaults("mysql:");
  EXPECT_EQ(rows.size(), 4u);
  for (const auto& [option, value] : rows) {
    const std::string others = option == "shape" ? "strategy=insert" : "ttl=30s";
    EXPECT_TRUE(values(others + "&" + option + "=" + value) == values(others)) << option;
  }
}

TEST(mysql_settings, of_options) {
  const settings s = settings_of_mysql(
      "mysql://h/shop?table=my_locks&prefix=a:&retry-base=20ms&idle-timeout=10m&connections=3"
      "&op-timeout=2s&connect-timeout=1s&ttl=8s&clock-skew=5ms&outage-timeout=7s");
  EXPECT_EQ(s.table, "my_locks");
  EXPECT_EQ(s.prefix, "a:");
  EXPECT_EQ(s.retry_base, 20ms);
  EXPECT_EQ(s.idle_timeout, 10min);
  EXPECT_EQ(s.connections, 3u);
  EXPECT_EQ(s.op_timeout, 2s);
  EXPECT_EQ(s.connect_timeout, 1s);
  EXPECT_EQ(s.row_wait, 2s) << "a quarter of the ttl";
  EXPECT_EQ(s.rules.op_timeout, 2s);
  EXPECT_EQ(s.rules.clock_skew, 5ms);
  EXPECT_EQ(s.rules.outage_timeout, 7s);
}

TEST(mysql_settings, of_each_strategy) {
  EXPECT_EQ(settings_of_mysql("mysql://h/shop?strategy=named").table, "");
  EXPECT_EQ(settings_of_mysql("mysql://h/shop?strategy=insert").table, "holdfast_records");
  for (const auto text : {"mysql://h/shop?strategy=named", "mysql://h/shop?strategy=for-update"}) {
    const settings s = settings_of_mysql(text);
    EXPECT_EQ(s.connections, 64u) << text << ": each claim has its own";
    EXPECT_EQ(s.row_wait, 1s) << text;
  }
  EXPECT_EQ(settings_of_mysql("mysql://h/shop?strategy=for-update").table, "holdfast_row_locks");
  EXPECT_EQ(settings_of_mysql("mysql://h/shop?strategy=insert").connections, 16u);
}

TEST(mysql_settings, a_retry_base_is_from_a_millisecond_to_a_minute) {
  EXPECT_EQ(settings_of_mysql("mysql://h/shop?retry-base=0s").retry_base, 1ms);
  EXPECT_EQ(settings_of_mysql("mysql://h/shop?retry-base=1h").retry_base, 1min);
}

TEST(mysql_settings, of_a_unix_socket) {
  for (const auto text : {"mysql:///shop?socket=/run/s", "mysql://localhost/shop?socket=/run/s"}) {
    const settings s = settings_of_mysql(text);
    ASSERT_EQ(s.servers.size(), 1u) << text;
    EXPECT_EQ(s.servers[0].host, "localhost");
    EXPECT_EQ(s.servers[0].port, 0);
    EXPECT_EQ(s.servers[0].path, "/run/s");
    EXPECT_FALSE(s.tls) << text;
  }
  const std::string longest = '/' + std::string(106, 'x');
  EXPECT_EQ(refusal_by_mysql("mysql:///shop?socket=" + longest).text, "");
  EXPECT_NE(refusal_by_mysql("mysql:///shop?socket=" + longest + 'x').text.find("107 bytes"),
            std::string::npos);
}

TEST(mysql_settings, tls_is_on_unless_all_servers_are_on_this_machine) {
  for (const auto text : {"mysql://127.0.0.1/d", "mysql://127.9.8.7/d", "mysql://localhost/d",
                          "mysql://[::1]/d", "mysql://localhost,127.0.0.1/d", "mysql://h/d?tls=0"})
    EXPECT_FALSE(settings_of_mysql(text).tls) << text;
  for (const auto text : {"mysql://h/d", "mysql://localhost,h/d", "mysql://localhost/d?tls=1",
                          "mysql://localhost/d?tls-ca=/dev/null"})
    EXPECT_TRUE(settings_of_mysql(text).tls) << text;
  EXPECT_EQ(settings_of_mysql("mysql://localhost/d?tls-ca=/dev/null").tls->ca_file, "/dev/null");
}

TEST(mysql_settings, show_no_password) {
  const settings s = settings_of_mysql("mysql://me:secret@h/shop");
  EXPECT_EQ(s.password, "secret");
  EXPECT_EQ(s.text.find("secret"), std::string::npos) << s.text;
  EXPECT_EQ(settings_of_mysql("mysql://me@h/shop", "other").password, "other");
}

TEST(mysql_settings, urls_that_name_no_place_are_refused) {
  const std::pair<const char*, const char*> refused[] = {{"mysql://h", "name the database"},
                                                         {"mysql://h/", "name the database"},
                                                         {"mysql://h/a/b",
                                                          "the path is the name of a database"},
                                                         {"mysql://h,h/d", "is named twice"},
                                                         {"mysql://h:3306,g,h/d",
                                                          "is named twice"}};
  for (const auto& [text, wanted] : refused) {
    const refusal r = refusal_by_mysql(text);
    EXPECT_EQ(r.code, errc::bad_url) << text;
    EXPECT_NE(r.text.find(wanted), std::string::npos) << text << ": " << r.text;
  }
  EXPECT_EQ(settings_of_mysql("mysql://h,h:3307,g/d").servers.size(), 3u) << "of one host";
}

TEST(mysql_settings, options_that_make_no_sense_are_refused) {
  const std::string long_name(57, 'x');
  const std::pair<std::string, const char*> refused[] =
      {{"mysql:///d", "name a host"},
       {"mysql://h/d?strategy=best", "there is row, for-update, insert, named"},
       {"mysql://h/d?strategy=named&table=t", "strategy=named has no table"},
       {"mysql://h/d?table=", "1 to 56 letters"},
       {"mysql://h/d?table=a-b", "1 to 56 letters"},
       {"mysql://h/d?table=" + long_name, "1 to 56 letters"},
       {"mysql:///d?socket=run/s", "give the path"},
       {"mysql://h/d?socket=/run/s", "another host"},
       {"mysql://localhost,localhost:2/d?socket=/run/s", "another host"},
       {"mysql:///d?socket=/run/s&tls=1", "a Unix socket has no TLS"},
       {"mysql://h/d?tls=0&tls-ca=/dev/null", "have no effect"},
       {"mysql://h/d?tls-ca=/no/file", "No such file"},
       {"mysql://h/d?tls-key=/dev/null", "without tls-cert"},
       {"mysql://h/d?tls-host=other", "verifies the host of the URL"},
       {"mysql://h/d?idle-timeout=999ms", "whole seconds, 1s to 10m"},
       {"mysql://h/d?idle-timeout=0s", "whole seconds, 1s to 10m"},
       {"mysql://h/d?idle-timeout=1500ms", "whole seconds, 1s to 10m"},
       {"mysql://h/d?idle-timeout=601s", "whole seconds, 1s to 10m"},
       {"mysql://h/d?connections=0", "connections"},
       {"mysql://h/d?connections=10001", "connections"},
       {"mysql://h/d?connections=1.5", "a whole number"},
       {"mysql://h/d?no-such=1", "no-such"}};
  for (const auto& [text, wanted] : refused) {
    const refusal r = refusal_by_mysql(text);
    EXPECT_EQ(r.code, errc::bad_option) << text;
    EXPECT_NE(r.text.find(wanted), std::string::npos) << text << ": " << r.text;
  }
  for (const char* const text : {"mysql://h/d?idle-timeout=1s", "mysql://h/d?connections=1",
                                 "mysql://h/d?connections=10000"})
    EXPECT_EQ(refusal_by_mysql(text).text, "") << text;
  EXPECT_EQ(settings_of_mysql("mysql://h/d?table=" + long_name.substr(1)).table.size(), 56u);
}

TEST(mysql_settings, of_the_columns_of_records) {
  const auto columns_of = [](const std::string& options) {
    return settings_of_mysql("mysql://h/d?strategy=insert" + options).records;
  };
  const insert::columns c = columns_of("");
  EXPECT_EQ(c.key, "resource");
  EXPECT_EQ(c.type, "");
  EXPECT_EQ(c.note, "description");
  const insert::columns order = columns_of("&shape=order&type=refund");
  EXPECT_EQ(order.key, "order_id");
  EXPECT_EQ(order.type, "type");
  EXPECT_EQ(order.note, "memo");
  EXPECT_EQ(order.type_value, "refund");
  EXPECT_EQ(columns_of("&key-column=k&note-column=").key, "k");
  EXPECT_EQ(columns_of("&key-column=k&note-column=").note, "");
}

TEST(mysql_settings, columns_that_make_no_sense_are_refused) {
  const std::pair<const char*, const char*> refused[] =
      {{"shape=round", "there is resource, order"},
       {"key-column=", "key-column: give 1 to 64 letters, digits and underscores"},
       {"note-column=a-b", "or nothing where the table has no such column"},
       {"owner-column=resource", "has the same name"},
       {"type=refund", "the table has no type column"}};
  for (const auto& [option, wanted] : refused) {
    const refusal r = refusal_by_mysql("mysql://h/d?strategy=insert&" + std::string(option));
    EXPECT_EQ(r.code, errc::bad_option) << option;
    EXPECT_NE(r.text.find(wanted), std::string::npos) << option << ": " << r.text;
  }
}

}  // namespace
}  // namespace holdfast::mysql
