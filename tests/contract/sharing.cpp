// Readers and writers. Played in the mode `shared`: lock() and peers are readers, rivals and others
// are writers.
#include <atomic>
#include <vector>

#include "behaviour.hpp"

namespace contract {
namespace {

void readers_share_a_lock(fixture& on) {
  const auto client = on.client();
  const auto reader = on.peer();
  const auto mine = on.lock(client).acquire();
  EXPECT_NE(token_of(reader->ask("try job")), 0);
  EXPECT_TRUE(on.lock(client).try_acquire()) << "nor does one of its own client keep it out";
  EXPECT_TRUE(mine.held());
  EXPECT_EQ(reader->ask("held job"), "yes");
}

void a_share_keeps_writers_out_until_its_last_reader_has_left(fixture& on) {
  const auto client = on.client();
  const auto first = on.peer();
  const auto last = on.peer();
  const auto writer = on.other();
  auto mine = on.lock(client).acquire();
  ASSERT_NE(token_of(first->ask("try job")), 0);
  ASSERT_NE(token_of(last->ask("try job")), 0);
  ASSERT_EQ(writer->ask("acquire job"), "calling");
  ASSERT_TRUE(falls_asleep(writer->process(), writer->thread()));
  mine.release();
  EXPECT_EQ(first->ask("release job"), "ok");
  ASSERT_TRUE(falls_asleep(writer->process(), writer->thread()));
  EXPECT_TRUE(writer->answers_nothing_yet());
  EXPECT_EQ(last->ask("release job"), "ok");
  EXPECT_NE(token_of(writer->receive(generous)), 0);
}

void a_mutex_excludes_readers_and_writers(fixture& on) {
  const auto client = on.client();
  const auto other = on.other();
  auto lease = client.mutex("job").acquire();
  EXPECT_EQ(other->ask("try reader:job"), "busy");
  EXPECT_EQ(other->ask("try writer:job"), "busy");
  lease.release();
  for (const std::string held : {"reader:job", "writer:job"}) {
    ASSERT_NE(token_of(other->ask("try " + held)), 0);
    EXPECT_FALSE(client.mutex("job").try_acquire()) << held;
    EXPECT_FALSE(client.recursive_mutex("job").try_acquire()) << held;
    EXPECT_EQ(other->ask("release " + held), "ok");
  }
}

// Also between the readers of one client, whom its store does not hear of.
void a_waiting_writer_lets_no_later_reader_in(fixture& on) {
  const auto client = on.client();
  const auto writer = on.other();
  const auto late = on.peer();
  auto early = on.lock(client).acquire();
  ASSERT_EQ(writer->ask("acquire job"), "calling");
  ASSERT_TRUE(falls_asleep(writer->process(), writer->thread()));
  EXPECT_TRUE(becomes([&] { return finds_busy(*late, "job"); }));
  EXPECT_TRUE(becomes([&] { return !on.lock(client).try_acquire(); }));
  ASSERT_EQ(late->ask("acquire job"), "calling");
  ASSERT_TRUE(falls_asleep(late->process(), late->thread()));
  early.release();
  EXPECT_NE(token_of(writer->receive(generous)), 0);
  EXPECT_TRUE(late->answers_nothing_yet());
  EXPECT_EQ(writer->ask("release job"), "ok");
  EXPECT_NE(token_of(late->receive(generous)), 0);
}

void a_stream_of_readers_starves_no_writer(fixture& on) {
  const auto one = on.client();
  const auto another = on.client();
  const auto writer = on.other();
  std::atomic<bool> over{false};
  std::vector<std::jthread> stream;
  for (const auto& client : {one, another, one, another}) {
    stream.emplace_back([&over, lock = on.lock(client)] {
      while (!over) {
        const auto share = lock.acquire();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  }
  EXPECT_EQ(writer->ask("acquire job"), "calling");
  EXPECT_NE(token_of(writer->receive(generous)), 0);
  EXPECT_EQ(writer->ask("release job"), "ok");
  over = true;
}

void queued_readers_enter_together(fixture& on) {
  const auto client = on.client();
  const auto one = on.peer();
  const auto another = on.peer();
  const auto third = on.peer();
  auto written = on.rival(client).acquire();
  for (auto* reader : {one.get(), another.get(), third.get()}) {
    ASSERT_EQ(reader->ask("acquire job"), "calling");
    ASSERT_TRUE(falls_asleep(reader->process(), reader->thread()));
  }
  written.unlock();
  const auto token = token_of(one->receive(generous));
  EXPECT_NE(token, 0);
  EXPECT_EQ(token_of(another->receive(generous)), token);
  EXPECT_EQ(token_of(third->receive(generous)), token);
}

void readers_that_share_have_one_token_and_one_owner(fixture& on) {
  const auto client = on.client();
  const auto reader = on.peer();
  const auto mine = on.lock(client).acquire();
  const auto beside = on.lock(client).acquire();
  EXPECT_EQ(beside.token(), mine.token());
  EXPECT_EQ(token_of(reader->ask("try job")), mine.token());
  EXPECT_EQ(reader->ask("owner job"), mine.owner());
  EXPECT_EQ(beside.owner(), mine.owner());
}

void a_later_group_has_a_larger_token(fixture& on) {
  const auto client = on.client();
  const auto reader = on.peer();
  const auto writer = on.other();
  std::int64_t last = 0;
  for (int times = 0; times < 3; ++times) {
    auto mine = on.lock(client).acquire();
    EXPECT_GT(mine.token(), last);
    EXPECT_EQ(token_of(reader->ask("try job")), mine.token());
    last = mine.token();
    mine.release();
    EXPECT_EQ(reader->ask("release job"), "ok");
    const auto written = token_of(writer->ask("try job"));
    EXPECT_GT(written, last);
    last = written;
    EXPECT_EQ(writer->ask("release job"), "ok");
  }
}

void a_stale_reader_harms_no_other_reader(fixture& on) {
  const auto client = on.client();
  const auto third = on.client();
  const auto reader = on.peer();
  auto stale = on.lock(client).acquire({.ttl = short_ttl, .renew = holdfast::renewal::manual});
  ASSERT_NE(token_of(reader->ask("try job")), 0);
  EXPECT_TRUE(comes(stale.loss_token()));
  stale.unlock();
  EXPECT_EQ(reader->ask("held job"), "yes");
  EXPECT_FALSE(on.rival(third).try_acquire());
  EXPECT_EQ(reader->ask("release job"), "ok") << "the store knows it as theirs";
  EXPECT_TRUE(becomes([&] { return static_cast<bool>(on.rival(third).try_acquire()); }));
}

void a_killed_reader_among_living_ones_blocks_nobody(fixture& on) {
  const auto client = on.client();
  const auto killed = on.short_lived_peer();
  auto mine = on.lock(client).acquire();
  ASSERT_NE(token_of(killed->ask("try job")), 0);
  const auto lock = on.rival(client);
  caller<bool> writer([&] { return static_cast<bool>(lock.acquire()); });
  ASSERT_TRUE(writer.waits());
  killed->kill();
  mine.release();
  ASSERT_TRUE(writer.comes_back());
  EXPECT_TRUE(writer.result());
}

void no_share_becomes_a_lock_in_place(fixture& on) {
  const auto client = on.client();
  auto share = on.lock(client).acquire();
  const auto token = share.token();
  const auto lock = on.rival(client);
  EXPECT_FALSE(lock.try_acquire());
  caller<std::int64_t> writer([&] { return lock.acquire().token(); });
  ASSERT_TRUE(writer.waits());
  EXPECT_TRUE(share.held());
  share.unlock();
  ASSERT_TRUE(writer.comes_back());
  EXPECT_GT(writer.result(), token);
}

}  // namespace

behaviours sharing() {
  return {
      CONTRACT_BEHAVIOUR(76, readers_share_a_lock, in_both, shared, nothing),
      CONTRACT_BEHAVIOUR(77, a_share_keeps_writers_out_until_its_last_reader_has_left, in_both,
                         shared, nothing),
      CONTRACT_BEHAVIOUR(78, a_mutex_excludes_readers_and_writers, in_both, shared, nothing),
      CONTRACT_BEHAVIOUR(79, a_waiting_writer_lets_no_later_reader_in, in_both, shared, preference),
      CONTRACT_BEHAVIOUR(80, a_stream_of_readers_starves_no_writer, in_both, shared, preference),
      CONTRACT_BEHAVIOUR(81, queued_readers_enter_together, in_both, shared, nothing),
      CONTRACT_BEHAVIOUR(82, readers_that_share_have_one_token_and_one_owner, in_both, shared,
                         nothing),
      CONTRACT_BEHAVIOUR(83, a_later_group_has_a_larger_token, in_both, shared, nothing),
      CONTRACT_BEHAVIOUR(84, a_stale_reader_harms_no_other_reader, in_both, shared, ttl),
      CONTRACT_BEHAVIOUR(85, a_killed_reader_among_living_ones_blocks_nobody, in_processes, shared,
                         nothing),
      CONTRACT_BEHAVIOUR(86, no_share_becomes_a_lock_in_place, in_threads, shared, nothing),
  };
}

}  // namespace contract
