// Readers and permits at the server: who comes in, who waits, what is left of those that die.
#include "claims.hpp"

namespace holdfast::redis_test {
namespace {

class redis_shared : public on_redis {};

TEST_F(redis_shared, readers_of_all_clients_hold_it_together_under_one_number) {
  redis_server server;
  peer a(server.url()), b(server.url());
  test_claim one(a, "x"), two(b, "x"), writer(b, "x");
  ASSERT_TRUE(one.get(reading()));
  ASSERT_TRUE(two.get(reading()));
  EXPECT_EQ(one.number(), two.number());
  EXPECT_EQ(one.owner(), two.owner());
  EXPECT_EQ(to_text(server.command({"GET", "x"})), one.owner());
  EXPECT_FALSE(writer.get(once(alone())));
  EXPECT_EQ(writer.heard.failure().code, errc::timed_out);
  EXPECT_TRUE(one.release());
  EXPECT_FALSE(writer.get(once(alone())));
  EXPECT_TRUE(two.release());
  EXPECT_TRUE(writer.get(once(alone())));
  EXPECT_GT(writer.number(), two.number());
}

TEST_F(redis_shared, no_reader_passes_a_writer_that_waits) {
  redis_server server;
  peer a(server.url()), b(server.url());
  test_claim one(a, "x"), writer(b, "x"), two(a, "x"), three(b, "x");
  ASSERT_TRUE(one.get(reading()));
  writer.ask(alone());
  EXPECT_TRUE(one.heard.hears('w')) << "the reader is told that somebody waits";
  EXPECT_FALSE(two.get(once(reading())));
  two.ask(reading());
  three.ask(reading());
  EXPECT_TRUE(eventually_queued(server, 3));
  EXPECT_TRUE(one.release());
  ASSERT_TRUE(writer.heard.hears('g'));
  ASSERT_TRUE(writer.is_granted());
  EXPECT_FALSE(two.heard.heard('g') || three.heard.heard('g'));
  EXPECT_TRUE(writer.heard.grant().others_wait);
  EXPECT_TRUE(writer.release());
  EXPECT_TRUE(two.heard.hears('g') && three.heard.hears('g'));
  EXPECT_EQ(two.number(), three.number());
}

TEST_F(redis_shared, a_reader_whose_lease_has_ended_is_none_and_blocks_nobody) {
  redis_server server;
  peer a(server.url()), b(server.url());
  test_claim zombie(a, "x"), living(b, "x"), writer(b, "x");
  ASSERT_TRUE(zombie.get(reading(200ms)));
  ASSERT_TRUE(living.get(reading(30s)));
  ASSERT_TRUE(eventually([&] { return a.inspect("x").size() == 1; }));
  EXPECT_FALSE(zombie.renew(30s)) << "it has ended";
  writer.ask(alone());
  EXPECT_TRUE(living.release());
  EXPECT_TRUE(writer.heard.hears('g')) << "at once, whatever the other one says it holds";
  EXPECT_FALSE(zombie.release());
}

TEST_F(redis_shared, a_writer_waits_no_longer_than_for_the_last_of_the_readers_that_live) {
  redis_server server;
  peer a(server.url()), b(server.url());
  test_claim soon(a, "x"), late(a, "x"), writer(b, "x");
  ASSERT_TRUE(soon.get(reading(300ms)));
  ASSERT_TRUE(late.get(reading(10min)));
  writer.ask(alone(10min));
  ASSERT_TRUE(late.heard.hears('w'));
  EXPECT_TRUE(late.release());  // what is left ends sooner than the writer was told
  EXPECT_TRUE(writer.heard.hears('g'));
}

TEST_F(redis_shared, a_writer_becomes_the_first_reader_and_lets_in_those_behind_it) {
  redis_server server;
  peer a(server.url()), b(server.url());
  test_claim writer(a, "x"), reader(b, "x"), next(b, "x");
  ASSERT_TRUE(writer.get(alone()));
  reader.ask(reading());
  EXPECT_TRUE(writer.heard.hears('w'));
  writer.downgrade();
  EXPECT_TRUE(reader.heard.hears('g'));
  EXPECT_EQ(reader.number(), writer.number());
  EXPECT_EQ(reader.owner(), writer.owner());
  EXPECT_TRUE(writer.renew(20s));
  writer.heard.forget();
  next.ask(alone());
  EXPECT_TRUE(writer.heard.hears('w'));
  EXPECT_TRUE(writer.release());
  ASSERT_TRUE(reader.is_granted());
  EXPECT_TRUE(reader.release());
  EXPECT_TRUE(next.heard.hears('g'));
}

TEST_F(redis_shared, a_thousand_readers_come_in_when_the_writer_goes) {
  redis_server server;
  constexpr int clients = 10, each = 100;
  std::deque<peer> peers;
  std::deque<test_claim> readers;
  for (int i = 0; i < clients; ++i) peers.emplace_back(server.url());
  peer b(server.url());
  test_claim writer(b, "x"), last(b, "x");
  ASSERT_TRUE(writer.get(alone()));
  for (auto& p : peers)
    for (int i = 0; i < each; ++i) readers.emplace_back(p, "x").ask(reading());
  ASSERT_TRUE(eventually_queued(server, clients * each));
  last.ask(alone());
  ASSERT_TRUE(eventually_queued(server, clients * each + 1));
  EXPECT_TRUE(writer.release());
  for (test_claim& r : readers) {
    ASSERT_TRUE(r.heard.hears('g'));
    ASSERT_TRUE(r.is_granted());
    r.renew_soon(30s);
    EXPECT_EQ(r.number(), readers.front().number());
  }
  // On a slow machine one of them may have been too late with its first renewal.
  for (test_claim& r : readers)
    EXPECT_TRUE(r.heard.grant().others_wait || r.heard.hears_any("wl") != '-');
  readers.clear();
  EXPECT_TRUE(last.heard.hears('g'));
}

TEST_F(redis_shared, a_stream_of_readers_does_not_starve_a_writer) {
  redis_server server;
  std::atomic<bool> over{false};
  std::vector<std::jthread> stream;
  for (int i = 0; i < 4; ++i) {
    stream.emplace_back([&] {
      peer p(server.url());
      while (!over) {
        test_claim one(p, "x");
        EXPECT_TRUE(one.get(reading()));
      }
    });
  }
  peer b(server.url());
  for (int i = 0; i < 20; ++i) {
    test_claim writer(b, "x");
    EXPECT_TRUE(writer.get(alone()));
  }
  over = true;
}

TEST_F(redis_shared, readers_learn_with_their_next_renewal_that_everything_was_flushed) {
  redis_server server;
  peer a(server.url()), b(server.url());
  test_claim one(a, "x"), two(b, "x"), other(b, "y");
  ASSERT_TRUE(one.get(reading()));
  ASSERT_TRUE(two.get(reading()));
  const auto before = one.number();
  server.command({"FLUSHALL"});
  EXPECT_FALSE(one.renew(30s));
  EXPECT_FALSE(two.release());
  test_claim again(b, "x");
  ASSERT_TRUE(again.get(reading()));
  EXPECT_GT(again.number(), before);
}

TEST_F(redis_shared, inspect_shows_each_reader_and_break_takes_one_or_all) {
  redis_server server;
  peer a(server.url()), b(server.url());
  test_claim one(a, "x"), two(b, "x"), writer(b, "x");
  ASSERT_TRUE(one.get(reading()));
  ASSERT_TRUE(two.get(reading()));
  writer.ask(alone());
  ASSERT_TRUE(one.heard.hears('w'));
  const auto seen = a.inspect("");
  ASSERT_EQ(seen.size(), 2u);
  for (const holder& h : seen) {
    EXPECT_EQ(h.mode, lock_mode::shared);
    EXPECT_EQ(h.waiting, 1);
    EXPECT_LE(h.expires_in, 30s);
    EXPECT_GT(h.expires_in, 1s);
  }
  EXPECT_TRUE(a.break_lock("x", seen[0].owner));
  EXPECT_FALSE(a.break_lock("x", seen[0].owner));
  EXPECT_EQ(a.inspect("").size(), 1u);
  EXPECT_TRUE(a.break_lock("x", one.owner()));
  EXPECT_TRUE(writer.heard.hears('g'));
  EXPECT_FALSE(one.release() || two.release());
}

}  // namespace
}  // namespace holdfast::redis_test
