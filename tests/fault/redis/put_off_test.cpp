// A server that is there and puts requests off: a waiter waits through it; one attempt and a
// bounded wait are told that it is unavailable, and why.
#include <filesystem>

#include "fixture.hpp"

namespace holdfast::redis_test {
namespace {

constexpr const char* slow_renewals = "?op-timeout=5s&ttl=6s&retry-base=2ms";
constexpr auto longer_than_op_timeout = 5500ms;

struct put_off {  // how a server comes to put requests off, and how that ends
  const char* name;
  const char* said;  // to those who do not wait
  void (*begin)(redis_server&);
  void (*end)(redis_server&);
};
class redis_puts_off : public on_redis, public testing::WithParamInterface<put_off> {};

void expect_told(const std::string& said, const told& t) {
  EXPECT_EQ(t.code, errc::unavailable) << t.text;
  EXPECT_NE(t.text.find(said), std::string::npos) << t.text;
}

TEST_P(redis_puts_off, a_waiter_waits_and_one_attempt_gets_an_error) {
  redis_server server({.config = {"save 3600 1"}});
  const auto c = client::open(server.url() + slow_renewals);
  const auto other = client::open(server.url() + slow_renewals);
  GetParam().begin(server);
  waiting_thread waiter(c);
  const auto wanted = other.mutex("y");
  for (int i = 0; i < 2; ++i)
    expect_told(GetParam().said, told_by([&] { (void)wanted.try_acquire(); }));
  expect_told(GetParam().said,
              told_by([&] { (void)wanted.try_acquire_for(longer_than_op_timeout); }));
  EXPECT_FALSE(waiter.is_served());
  GetParam().end(server);
  waiter.served();
}

constexpr put_off readonly{
    "READONLY",
    "replica",
    [](redis_server& s) {
      s.command({"REPLICAOF", "127.0.0.1", "1"});
    },
    [](redis_server& s) {
      s.command({"REPLICAOF", "NO", "ONE"});
    },
};
constexpr put_off out_of_memory{
    "OOM",
    "OOM",
    [](redis_server& s) {
      s.command({"CONFIG", "SET", "maxmemory", "1"});
    },
    [](redis_server& s) {
      s.command({"CONFIG", "SET", "maxmemory", "0"});
    },
};
constexpr put_off no_replicas{
    "NOREPLICAS",
    "NOREPLICAS",
    [](redis_server& s) {
      s.command({"CONFIG", "SET", "min-replicas-to-write", "1"});
    },
    [](redis_server& s) {
      s.command({"CONFIG", "SET", "min-replicas-to-write", "0"});
    },
};

// Nothing can be saved while a folder has the name of the file.
std::filesystem::path dump_of(const redis_server& s) {
  return std::filesystem::path(s.socket_path()).parent_path() / "dump.rdb";
}

void expect_saved(redis_server& s, const std::string& status) {
  EXPECT_TRUE(eventually([&] {
    s.command({"BGSAVE"});
    const auto info = s.command({"INFO", "persistence"}).text;
    return info.find("rdb_last_bgsave_status:" + status) != info.npos;
  }));
}

constexpr put_off no_disk{
    "MISCONF",
    "MISCONF",
    [](redis_server& s) {
      std::filesystem::create_directory(dump_of(s));
      expect_saved(s, "err");
    },
    [](redis_server& s) {
      std::filesystem::remove(dump_of(s));
      expect_saved(s, "ok");
    },
};

INSTANTIATE_TEST_SUITE_P(by, redis_puts_off,
                         testing::Values(readonly, out_of_memory, no_replicas, no_disk),
                         [](const auto& one) { return std::string(one.param.name); });

class redis_loading : public on_redis {};

// It loads for some seconds, so that several attempts fall into it.
TEST_F(redis_loading, is_waited_through_and_one_attempt_gets_an_error) {
  if (!testkit::tested_redis().is_at_least(7, 0))
    GTEST_SKIP() << "skipped: this server answers nothing while it loads a small file";
  redis_server server(
      {.config = {"key-load-delay 1000", "loading-process-events-interval-bytes 1024"}});
  server.command({"DEBUG", "POPULATE", "4000"});
  const std::string brief = "?op-timeout=500ms&ttl=1m&retry-base=2ms";
  const auto c = client::open(server.url() + "?ttl=1m"), other = client::open(server.url() + brief);
  auto held = c.mutex("x").acquire();
  waiting_thread waiter(other);
  EXPECT_TRUE(eventually_queued(server, 1));
  std::vector<told> all;
  std::atomic<bool> is_back{false};
  std::jthread attempts([&] {
    const auto wanted = other.mutex("y");
    while (!is_back) {
      all.push_back(told_by([&] { (void)wanted.try_acquire(); }));
      all.push_back(told_by([&] { (void)wanted.try_acquire_for(700ms); }));
    }
  });
  server.restart(true);
  is_back = true;
  attempts.join();
  std::size_t loading = 0;
  for (const told& t : all) {
    EXPECT_TRUE(!t.code || t.code == errc::unavailable) << t.text;
    loading += t.text.find("LOADING") != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(loading, 2u);
  held.unlock();
  waiter.served();
}

}  // namespace
}  // namespace holdfast::redis_test
