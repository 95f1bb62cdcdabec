#include "backend/redis/settings.hpp"

#include <gtest/gtest.h>
#include <holdfast/error.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "testkit/manual_environment.hpp"
#include "testkit/servers/scratch_folder.hpp"
#include "tests/unit/backend/settings_fixture.hpp"
#include "tests/unit/seam/documented_options.hpp"

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

settings settings_of(std::string_view text) {
  return settings_unit::settings_of(read_settings, text);
}

// The code of the refusal and what it says; empty when nothing is refused.
std::string refusal_of(std::string_view text) {
  const settings_unit::refusal r = settings_unit::refusal_by(read_settings, text);
  return r.code ? r.code.message() + ": " + r.text : "";
}

TEST(redis_settings, defaults_are_database_0_of_one_host_without_tls) {
  const settings s = settings_of("redis://host");
  EXPECT_EQ(s.where.host, "host");
  EXPECT_EQ(s.where.port, 6379);
  EXPECT_EQ(s.where.path, "");
  EXPECT_EQ(s.database, 0);
  EXPECT_FALSE(s.tls);
  EXPECT_EQ(s.user + s.password + s.prefix, "");
  EXPECT_EQ(s.retry_base, 50ms);
}

TEST(redis_settings, keep_the_log_of_the_client) {
  EXPECT_TRUE(settings_unit::keep_the_log(read_settings, "redis://host"));
}

TEST(redis_settings, docs_options_has_the_defaults) {
  const auto values = [](const std::string& query) {
    const settings s = settings_of("redis://host?" + query);
    return std::tuple(s.database, s.layout, s.is_fair, s.stale_after, s.retry_base, s.replicas,
                      s.by_majority);
  };
  const auto rows = settings_unit::documented_defaults("redis:");
  EXPECT_EQ(rows.size(), 7u);
  for (const auto& [option, value] : rows) {
    const std::string others = option == "stale-after" ? "layout=getset&unsafe=1" : "ttl=30s";
    EXPECT_TRUE(values(others + "&" + option + "=" + value) == values(others)) << option;
  }
}

TEST(redis_settings, docs_options_has_the_defaults_of_redlock) {
  const auto values = [](const std::string& query) {
    const settings s = settings_of("redlock://a,b,c?ttl=30s" + query);
    return std::tuple(s.max_ttl, s.node_timeout);
  };
  const auto rows = settings_unit::documented_defaults("redlock:");
  EXPECT_EQ(rows.size(), 1u);
  for (const auto& [option, value] : rows)
    EXPECT_TRUE(values("&" + option + "=" + value) == values("")) << option;
}

TEST(redis_settings, a_url_says_where_and_as_whom) {
  const settings s = settings_of("redis://me:secret@[::1]:7000/3?prefix=shop:&retry-base=2s");
  EXPECT_EQ(s.where.host, "::1");
  EXPECT_EQ(s.where.port, 7000);
  EXPECT_EQ(s.user, "me");
  EXPECT_EQ(s.password, "secret");
  EXPECT_EQ(s.database, 3);
  EXPECT_EQ(s.prefix, "shop:");
  EXPECT_EQ(s.retry_base, 2s);
  EXPECT_EQ(s.text.find("secret"), s.text.npos) << s.text;
}

TEST(redis_settings, the_database_is_in_the_path_or_in_an_option) {
  EXPECT_EQ(settings_of("redis://host/7").database, 7);
  EXPECT_EQ(settings_of("redis://host?db=7").database, 7);
  EXPECT_EQ(settings_of("redis://host/?db=7").database, 7);
  EXPECT_EQ(settings_of("redis://host/7?db=7").database, 7);
  EXPECT_EQ(settings_of("redis://host/").database, 0);
}

TEST(redis_settings, the_largest_number_of_a_database_is_a_mebi) {
  EXPECT_EQ(settings_of("redis://host?db=1048576").database, 1'048'576);
  EXPECT_NE(refusal_of("redis://host?db=1048577"), "");
}

TEST(redis_settings, the_path_of_a_unix_socket_has_two_characters_at_least) {
  EXPECT_EQ(settings_of("redis+unix:///x").where.path, "/x");
}

TEST(redis_settings, a_unix_socket_is_a_path) {
  const settings s = settings_of("redis+unix:///run/redis.sock?db=2");
  EXPECT_EQ(s.where.path, "/run/redis.sock");
  EXPECT_EQ(s.database, 2);
}

TEST(redis_settings, the_pause_before_a_connection_is_kept_in_bounds) {
  EXPECT_EQ(settings_of("redis://host?retry-base=10us").retry_base, 1ms);
  EXPECT_EQ(settings_of("redis://host?retry-base=1h").retry_base, 1min);
}

TEST(redis_settings, other_times_are_kept_in_bounds_too) {
  EXPECT_EQ(settings_of("redis://host?ttl=2s").probe, 1s);
  EXPECT_EQ(settings_of("redis://host?ttl=30s").probe, 10s);
  EXPECT_EQ(settings_of("redis://host?probe=0s").probe, 0s) << "none";
  EXPECT_EQ(settings_of("redis://host?probe=1ms").probe, 100ms);
  EXPECT_EQ(settings_of("redis://host?probe=48h").probe, 24h);
  const std::string getset = "redis://host?unsafe=1&layout=getset&stale-after=";
  EXPECT_EQ(settings_of(getset + "1ms").stale_after, 100ms);
  EXPECT_EQ(settings_of(getset + "7s").stale_after, 7s);
  EXPECT_EQ(settings_of(getset + "9000h").stale_after, 24h * 366);
}

TEST(redis_settings, the_rules_of_claims_are_those_of_the_url) {
  const settings s = settings_of("redis://host?op-timeout=2s&clock-skew=5ms&outage-timeout=7s");
  EXPECT_EQ(s.op_timeout, 2s);
  EXPECT_EQ(s.rules.op_timeout, 2s);
  EXPECT_EQ(s.rules.clock_skew, 5ms);
  EXPECT_EQ(s.rules.outage_timeout, 7s);
}

TEST(redis_settings, every_server_has_the_connect_timeout_of_the_url) {
  EXPECT_EQ(settings_of("redis://host?connect-timeout=3s").connect_timeout, 3s);
  for (const endpoint& e : settings_of("redlock://a,b,c?connect-timeout=3s").servers)
    EXPECT_EQ(e.connect_timeout, 3s);
}

TEST(redis_settings, a_password_from_a_file_replaces_that_of_the_url) {
  const auto with_file = [](std::string_view text) {
    return settings_unit::settings_of(read_settings, text, "of the file");
  };
  EXPECT_EQ(with_file("redis://me:secret@host").password, "of the file");
  EXPECT_EQ(with_file("redis://me@host").password, "of the file");
}

TEST(redis_settings, the_process_of_a_holder_is_that_of_the_environment) {
  testkit::manual_environment env;
  const settings s = settings_of("redis://host");
  EXPECT_EQ(s.host, env.process().host);
  EXPECT_EQ(s.process, env.process().pid);
}

TEST(redis_settings, a_grant_waits_for_so_many_replicas_or_for_the_majority) {
  EXPECT_EQ(settings_of("redis://host").replicas, 0);
  EXPECT_EQ(settings_of("redis://host?replicas=100").replicas, 100);
  EXPECT_FALSE(settings_of("redis://host?replicas=2").by_majority);
  EXPECT_TRUE(settings_of("redis://host?replicas=majority").by_majority);
}

TEST(redis_settings, a_cluster_has_seeds_and_a_map) {
  const settings s = settings_of("redis+cluster://a,b:7000?map=h:1=i:65535,[h:1=i]:2&db=0");
  ASSERT_EQ(s.seeds.size(), 2u);
  EXPECT_EQ(s.seeds[0].where.port, 6379);
  EXPECT_EQ(s.seeds[1].where.port, 7000);
  ASSERT_EQ(s.map.size(), 2u);
  EXPECT_EQ(s.map[0].second.port, 65535);
  EXPECT_EQ(s.map[1].first.host, "[h") << "brackets come in pairs";
  EXPECT_EQ(s.map[1].second.host, "i]");
  EXPECT_FALSE(s.tls);
  EXPECT_TRUE(settings_of("rediss+cluster://a").tls);
}

TEST(redis_settings, limits_of_a_redlock_are_part_of_what_is_allowed) {
  EXPECT_EQ(settings_of("redlock://a,b,c?ttl=1m").max_ttl, 1min);
  EXPECT_EQ(settings_of("redlock://a,b,c?ttl=4s&node-timeout=1s").node_timeout, 1s);
  EXPECT_EQ(settings_of("redlock://a,b,c?node-timeout=1ms").node_timeout, 1ms);
  EXPECT_EQ(settings_of("redlock://a,b,c?ttl=100ms").node_timeout, 10ms);
  EXPECT_EQ(settings_of("redlock://a,b,c?ttl=30s").node_timeout, 500ms);
  EXPECT_EQ(settings_of("redlock://a,b,c,d,e,f,g,h,i,j,k,l,m,n,o").servers.size(), 15u);
  EXPECT_EQ(settings_of("redlock://a,b,c?ttl=100ms&max-ttl=100100us").max_ttl, 101ms);
}

TEST(redis_settings, tls_verifies_the_name_of_the_host_or_the_one_given) {
  const settings s = settings_of("rediss://host");
  ASSERT_TRUE(s.tls);
  EXPECT_EQ(s.tls->host, "host");
  EXPECT_EQ(s.tls->ca_file, "");
  EXPECT_EQ(settings_of("rediss://host?tls-host=other").tls->host, "other");
}

TEST(redis_settings, missing_files_of_tls_are_reported_at_once) {
  const testkit::scratch_folder folder;
  EXPECT_NE(refusal_of("rediss://host?tls-ca=" + folder.file("none")).find("No such file"),
            std::string::npos);
  EXPECT_EQ(settings_of("rediss://host?tls-ca=/dev/null").tls->ca_file, "/dev/null");
}

struct settings_row {
  std::string_view url, says;
};

// The fault, and the remedy.
constexpr settings_row refused_rows[] = {
    {"redis://", "name one host"},
    {"redis://a,b", "name one host"},
    {"redis://host/x", "the number of a database"},
    {"redis://host/-1", "the number of a database"},
    {"redis://host/1/2", "the number of a database"},
    {"redis://host/99999999999", "the number of a database"},
    {"redis://me@host", "a user needs a password"},
    {"redis+unix://host/run/redis.sock", "has no host"},
    {"redis+unix://", "name the socket"},
    {"redis+unix:///", "name the socket"},
    {"redis://host?db=-1", "db"},
    {"redis://host?db=1.5", "db"},
    {"redis://host?db=x", "db"},
    {"redis://host/3?db=4", "database 3 and db= says 4; keep one"},
    {"redis://host/0?db=4", "database 0 and db= says 4; keep one"},
    {"rediss://host?tls-key=/dev/null", "tls-key is without tls-cert"},
    {"redis://host?retry-base=x", "retry-base"},
    {"redis://host?layout=no-such-layout", "there is string, lua, redisson, redisson-spin"},
    {"redis://host?layout=setnx", "accept this with unsafe=1"},
    {"redis://host?layout=setnx-exists", "accept this with unsafe=1"},
    {"redis://host?layout=getset", "accept this with unsafe=1"},
    {"redis://host?tls-ca=/dev/null", "tls-ca"},
    {"redis://host?prefx=a", "prefix"},
    {"rediss://host?tls-ce=a", "tls-cert"},
    {"redlock://a,b", "name three servers at least"},
    {"redlock://a", "name three servers at least"},
    {"redlock://a,b,a", "names a:6379 twice"},
    {"redlock://a,b,a:6379", "names a:6379 twice"},
    {"redlock://a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p", "at most 15"},
    {"redlock://a,b,c?ttl=2m", "longer than max-ttl, which is 60 s"},
    {"redlock://a,b,c?layout=string", "layout"},
    {"redlock://a,b,c?node-timeout=1h", "a quarter of the ttl"},
    {"redlock://a,b,c?ttl=4s&node-timeout=1001ms", "a quarter of the ttl"},
    {"redlock://a,b,c?max-ttl=x", "max-ttl"},
    {"redis://host?max-ttl=1m", "max-ttl"},
    {"redis+sentinel://a,b,c", "the name by which the sentinels know the master"},
    {"redis+sentinel://a,b,c/", "the name by which the sentinels know the master"},
    {"redis+sentinel://a,b,c/main/x", "the number of a database"},
    {"redis+sentinel://a,b,c/main/3?db=4", "database 3 and db= says 4; keep one"},
    {"redis+sentinel://a/main?sentinel-user=me", "sentinel-user needs a password"},
    {"redis+sentinel://a/main?sentinel-password-file=/no/such", "/no/such cannot be opened"},
    {"redis+sentinel://a/main?sentinel-password-env=HF_UNSET", "HF_UNSET, which is not set"},
    {"redis+sentinel://a/main?map=a:1", "the address that is announced"},
    {"redis+sentinel://a/main?map=a:1=b:0", "the address that is announced"},
    {"redis+sentinel://a/main?map=a:1=b:2,c", "the address that is announced"},
    {"redis://host?map=a:1=b:2", "map"},
    {"redis+sentinel://a/main?map=:1=b:2", "the address that is announced"},
    {"redis+sentinel://a/main?map=a:65536=b:2", "the address that is announced"},
    {"redis+sentinel://a/main?map=a:1x=b:2", "the address that is announced"},
    {"redis+sentinel://a/main?map=a=b:2", "the address that is announced"},
    {"redis+sentinel://a/main?map=a:=b:2", "the address that is announced"},
    {"redis+sentinel://a/main?map=a:99999999999=b:2", "the address that is announced"},
    {"redis+sentinel:///main", "name a node"},
    {"redis+cluster://", "name a node"},
    {"redis+cluster://a/1", "database 0 only"},
    {"redis+cluster://a?db=1", "database 0 only"},
    {"redlock://a,b,c?node-timeout=999us", "at least 1ms"},
    {"redlock://a,b,c?replicas=1", "replicas"},
    {"redis://host?stale-after=1s", "stale-after is an option of layout=getset"},
    {"redis://host?fair=1", "fair is an option of layout=redisson"},
    {"redis://host?replicas=1.5", "a whole number, or majority"},
    {"redis://host?replicas=101", "replicas"},
    {"redis://host?replicas=-1", "replicas"},
    {"redis://host?sentinel-user=me", "sentinel-user"},
};

TEST(redis_settings, sentinels_have_a_port_a_user_and_a_password_of_their_own) {
  const testkit::scratch_folder folder;
  const std::string file = folder.file("p");
  std::ofstream(file) << "of sentinels";
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  const settings s = settings_of("rediss+sentinel://me:secret@a,b:7000/main/3?sentinel-user=you&"
                                 "sentinel-password-file=" +
                                 file + "&map=10.0.0.7:6379=[::1]:7001,h:1=i:2");
  EXPECT_EQ(s.master, "main");
  EXPECT_EQ(s.database, 3);
  EXPECT_EQ(s.password, "secret");
  ASSERT_EQ(s.sentinels.size(), 2u);
  EXPECT_EQ(s.sentinels[0].where.port, 26379);
  EXPECT_EQ(s.sentinels[1].where.port, 7000);
  for (const endpoint& e : s.sentinels) {
    EXPECT_EQ(e.user, "you");
    EXPECT_EQ(e.password, "of sentinels");
    EXPECT_EQ(e.database, 0);
    ASSERT_TRUE(e.tls);
    EXPECT_EQ(e.tls->host, e.where.host);
  }
  ASSERT_EQ(s.map.size(), 2u);
  EXPECT_EQ(base::text_of(s.map[0].second), "[::1]:7001");
  EXPECT_FALSE(s.has_tls_host);
  EXPECT_TRUE(settings_of("rediss+sentinel://a/main?tls-host=all").has_tls_host);
}

TEST(redis_settings, a_server_password_is_not_sent_to_sentinels) {
  for (const endpoint& e : settings_of("redis+sentinel://me:secret@a,b/main").sentinels) {
    EXPECT_EQ(e.user, "");
    EXPECT_EQ(e.password, "");
  }
}

TEST(redis_settings, the_password_of_sentinels_is_in_a_file_or_in_a_variable) {
  ::setenv("HOLDFAST_TEST_SENTINELS", "of a variable", 1);
  const std::string url = "redis+sentinel://a/main?sentinel-user=you&";
  const std::string variable = "sentinel-password-env=HOLDFAST_TEST_SENTINELS";
  const settings s = settings_of(url + variable);
  ASSERT_EQ(s.sentinels.size(), 1u);
  EXPECT_EQ(s.sentinels[0].user, "you");
  EXPECT_EQ(s.sentinels[0].password, "of a variable");
  const testkit::scratch_folder folder;
  const std::string file = folder.file("p");
  std::ofstream(file) << "of sentinels";
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  const std::string both = url + variable + "&sentinel-password-file=" + file;
  EXPECT_NE(refusal_of(both).find("keep one of"), std::string::npos) << refusal_of(both);
  ::unsetenv("HOLDFAST_TEST_SENTINELS");
}

TEST(redis_settings, each_server_of_a_redlock_has_what_the_url_gives) {
  const settings s = settings_of("redlocks://me:secret@a,b:7000,c/3?ttl=4s");
  ASSERT_EQ(s.servers.size(), 3u);
  EXPECT_EQ(s.servers[1].where.host, "b");
  EXPECT_EQ(s.servers[1].where.port, 7000);
  EXPECT_EQ(s.servers[2].where.port, 6379);
  for (const endpoint& e : s.servers) {
    EXPECT_EQ(e.password, "secret");
    EXPECT_EQ(e.database, 3);
    ASSERT_TRUE(e.tls);
    EXPECT_EQ(e.tls->host, e.where.host);
  }
  EXPECT_EQ(s.max_ttl, 1min);
  EXPECT_EQ(s.node_timeout, 400ms);
}

TEST(redis_settings, what_cannot_be_meant_is_refused_with_the_remedy) {
  for (const settings_row& r : refused_rows) {
    const std::string said = refusal_of(r.url);
    EXPECT_NE(said.find(r.says), said.npos) << r.url << ": " << said;
  }
}

TEST(redis_settings, only_demonstrations_that_are_not_safe_need_consent) {
  for (const std::string layout : {"lua", "redisson", "redisson-fair", "redisson-permits"})
    EXPECT_EQ(settings_of("redis://host?layout=" + layout).layout, layout);
  EXPECT_EQ(settings_of("redis://host?layout=setnx&unsafe=1").layout, "setnx");
  EXPECT_TRUE(settings_of("redis://host?layout=redisson&fair=1").is_fair);
}

TEST(redis_settings, a_socket_path_fits_into_its_address) {
  const std::string longest = '/' + std::string(106, 'x');
  EXPECT_EQ(settings_of("redis+unix://" + longest).where.path, longest);
  EXPECT_NE(refusal_of("redis+unix://" + longest + 'x').find("107 bytes"), std::string::npos);
}

TEST(redis_settings, a_refusal_shows_no_password) {
  const std::string said = refusal_of("redis://me:secret@host?prefx=a");
  EXPECT_NE(said, "");
  EXPECT_EQ(said.find("secret"), said.npos) << said;
}

// All that is ever said of a URL: its text, and why it is refused.
std::string said_of(const std::string& text) {
  std::error_code ec;
  return url::parse(text, ec).text() + ' ' + refusal_of(text);
}

TEST(redis_settings, no_mistyped_url_shows_its_password) {
  constexpr const char* mistyped[] = {
      "redis:lock:zqxvjk@127.0.0.1",
      "redis:/lock:zqxvjk@127.0.0.1",
      "redis:///lock:zqxvjk@127.0.0.1",
      "redis:lock:zqxvjk",
      "redis://lock%3Azqxvjk%40127.0.0.1",
      "redis:lock%3Azqxvjk%40127.0.0.1",
      "redis://127.0.0.1?Password=zqxvjk",
      "redis://127.0.0.1?pass=zqxvjk",
      "redis://127.0.0.1?passwrd=zqxvjk",
      "redis://127.0.0.1?pass=1&pass=zqxvjk",
      "redis://zqxvjk@127.0.0.1:17391",
      "redis://zqxvjk@",
      "lock:zqxvjk@127.0.0.1",
      "rediss:///lock:zqxvjk@127.0.0.1/0",
      "redis+unix:///lock:zqxvjk@/run/r.s",
      "redis:///0?prefix=lock:zqxvjk@127.0.0.1",
      "file:lock:zqxvjk@127.0.0.1",
      "memory:lock:zqxvjk@127.0.0.1",
  };
  for (const std::string text : mistyped)
    EXPECT_EQ(said_of(text).find("zqxvjk"), std::string::npos) << said_of(text);
}

// Each character left out, and each mark of a URL's grammar put between and in place of any two.
TEST(redis_settings, no_slip_of_a_finger_shows_the_password) {
  for (const std::string whole :
       {"redis://lock:zqxvjk@127.0.0.1:7/0?ttl=5s", "redis://:zqxvjk@h", "rediss://u:zqxvjk@a,b/3",
        "redis://127.0.0.1:7/0?password=zqxvjk&ttl=5s", "redis://h?ttl=5s&password=zqxvjk"}) {
    std::vector<std::string> slips;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      slips.push_back(std::string(whole).erase(i, 1));
      slips.push_back(whole);
      if (i > 0) std::swap(slips.back()[i], slips.back()[i - 1]);
      for (const char mark : std::string_view(":/@?#%&=,;[].+ ")) {
        slips.push_back(std::string(whole).insert(i, 1, mark));
        slips.push_back(std::string(whole).replace(i, 1, 1, mark));
      }
    }
    for (const std::string& text : slips) {
      const std::string said = said_of(text);
      EXPECT_EQ(said.find("zqx"), said.npos) << text << " gives " << said;
      EXPECT_EQ(said.find("vjk"), said.npos) << text << " gives " << said;
    }
  }
}

}  // namespace
}  // namespace holdfast::redis
