// An operator's questions at the server.
#include "fixture.hpp"

namespace holdfast::redis_test {
namespace {

class redis_looking : public on_redis {};

bool was_asked(redis_server& server, const std::string& command) {
  const auto counted = server.command({"INFO", "commandstats"}).text;
  return counted.find("cmdstat_" + command + ":") != std::string::npos;
}

TEST_F(redis_looking, at_one_lock_goes_through_no_other_keys) {
  redis_server server;
  const auto c = client::open(server.url());
  const auto alone = c.mutex("alone").acquire();
  const auto share = c.shared_mutex("share").acquire_shared();
  const auto permits = c.semaphore("permits", 3).acquire({.permits = 2});
  for (const char* name : {"alone", "share", "permits"}) EXPECT_EQ(c.holders(name).size(), 1u);
  EXPECT_EQ(c.holders("permits").at(0).permits, 2u);
  EXPECT_TRUE(c.holders("free").empty());
  EXPECT_FALSE(was_asked(server, "scan"));
  EXPECT_FALSE(was_asked(server, "keys"));
  EXPECT_EQ(c.list("share").size(), 1u);
  EXPECT_TRUE(was_asked(server, "scan"));
}

TEST_F(redis_looking, a_query_that_is_refused_in_part_is_refused_whole) {
  redis_server server({.acl = "lock on >secret ~* &* +@all -zcard -hget", .default_user = false});
  const auto c = client::open("redis://lock:secret@127.0.0.1:" + std::to_string(server.port()));
  const auto one = c.shared_mutex("one").acquire_shared(),
             two = c.shared_mutex("two").acquire_shared();
  for (int i = 0; i < 20; ++i) {
    for (const auto& t :
         {told_by([&] { (void)c.list(); }), told_by([&] { (void)c.holders("one"); })}) {
      EXPECT_EQ(t.code, errc::refused) << t.text;
      EXPECT_NE(t.text.find("zcard"), std::string::npos) << t.text;
    }
  }
  EXPECT_TRUE(one.held() && two.held());
}

TEST_F(redis_looking, without_a_connection_fails_once_and_works_again_later) {
  redis_server server;
  tcp_proxy proxy(server.port());
  const auto c = client::open(proxy.url() + quick_with("close-timeout=500ms"));
  const auto held = client::open(server.url()).mutex("x").acquire();
  proxy.refuse(true);
  proxy.reset_all();
  for (int i = 0; i < 50; ++i) {
    const auto t = told_by([&] { (void)c.holders("x"); });
    EXPECT_EQ(t.code, outcome::unavailable) << t.text;
  }
  proxy.refuse(false);
  EXPECT_TRUE(eventually([&] {
    std::size_t shown = 0;
    const auto t = told_by([&] { shown = c.holders("x").size(); });
    return !t.code && shown == 1;
  }));
}

}  // namespace
}  // namespace holdfast::redis_test
