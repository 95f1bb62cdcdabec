// Layout curator-semaphore at a real server: what it writes, what it honours, and that no node is
// left whatever fails.
#include <regex>
#include <stop_token>
#include <thread>

#include "lock_fixture.hpp"

namespace holdfast::zookeeper_test {
namespace {

const std::string of_permits = "layout=curator-semaphore&session-timeout=10s";
const std::string foreign = "_c_01234567-89ab-4def-8123-456789abcdef";
constexpr acquire_options two{.permits = 2};

class zookeeper_semaphore : public locks_at_zookeeper {
 protected:
  std::vector<std::string> leases() { return nodes_of("s/leases"); }
  std::vector<std::string> line() { return nodes_of("s/locks"); }
  bool is_empty() { return leases().empty() && line().empty(); }
  void make_folders() {
    for (const char* p : {"s", "s/locks", "s/leases"})
      ASSERT_EQ(raw().create(path(p), node_kind::container).code, error::ok);
    // A folder that was used and is empty is removed by this server at once.
    for (const char* p : {"s/locks/", "s/leases/"})
      ASSERT_EQ(raw().create(path(p) + "a", node_kind::persistent).code, error::ok);
  }
  // What a foreign client of the layout has. Returns its path.
  std::string make_foreign(const std::string& below) {
    const answer a = raw().create(path("s/" + below), node_kind::ephemeral_sequential);
    const auto made = zookeeper::read_created(a.bytes());
    return made ? std::string(made->path) : std::string();
  }
  // Once there is something else in the folder, which goes when it is empty.
  void drop_placeholder(const std::string& folder) {
    EXPECT_EQ(raw().remove(path("s/" + folder + "/a")).code, error::ok);
  }
};

TEST_F(zookeeper_semaphore, writes_what_curators_semaphore_writes) {
  client mine = client::open(url(of_permits));
  semaphore s(mine, "s", 3);
  lease held = s.acquire(two);
  const std::regex name("_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-lease-[0-9]{10}");
  ASSERT_EQ(leases().size(), 2u);
  for (const std::string& node : leases()) {
    EXPECT_TRUE(std::regex_match(node, name)) << node;
    const auto stat = zookeeper::read_stat(raw().exists(path("s/leases/") + node).bytes());
    ASSERT_TRUE(stat);
    EXPECT_NE(stat->ephemeral_owner, 0);
    EXPECT_EQ(held.token() / 1024, stat->czxid);
  }
  EXPECT_TRUE(line().empty());
  const auto seen = mine.holders("s");
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].permits, 2u);
  EXPECT_EQ(seen[0].total_permits, 3u);
  EXPECT_EQ(seen[0].mode, lock_mode::permit);
  EXPECT_EQ(seen[0].token, held.token());
  held.release();
  EXPECT_TRUE(eventually([&] { return raw().exists(path("s")).code == error::no_node; }))
      << "empty containers go";
}

TEST_F(zookeeper_semaphore, waits_in_line_with_the_nodes_of_curators_semaphore) {
  client mine = client::open(url(of_permits));
  semaphore s(mine, "s", 2);
  make_folders();
  const std::string one = make_foreign("leases/" + foreign + "-lease-");
  drop_placeholder("locks");
  drop_placeholder("leases");
  std::jthread waiter([&] { (void)s.acquire(two); });
  const std::regex name("_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-lock-[0-9]{10}");
  ASSERT_TRUE(eventually([&] { return line().size() == 1 && leases().size() == 3; }));
  EXPECT_TRUE(std::regex_match(line()[0], name)) << line()[0];
  const auto seen = mine.holders("s");
  ASSERT_EQ(seen.size(), 1u) << "leases that wait hold nothing";
  EXPECT_EQ(seen[0].owner, foreign);
  EXPECT_EQ(seen[0].total_permits, 0u);
  EXPECT_EQ(seen[0].waiting, 1);
  EXPECT_EQ(raw().remove(one).code, error::ok);
  waiter.join();
  EXPECT_TRUE(eventually([&] { return is_empty(); }));
}

TEST_F(zookeeper_semaphore, counts_every_lease_of_another_client) {
  client mine = client::open(url(of_permits));
  semaphore s(mine, "s", 2);
  make_folders();
  const std::string one = make_foreign("leases/" + foreign + "-lease-");
  drop_placeholder("locks");
  EXPECT_FALSE(bool(s.try_acquire())) << "the node without a sequence counts, as with Curator";
  drop_placeholder("leases");
  EXPECT_FALSE(bool(s.try_acquire(two)));
  EXPECT_EQ(leases().size(), 1u) << "what is not granted is returned";
  EXPECT_TRUE(bool(s.try_acquire()));
  EXPECT_EQ(raw().remove(one).code, error::ok);
  EXPECT_TRUE(eventually([&] { return bool(s.try_acquire(two)); }));
}

TEST_F(zookeeper_semaphore, lets_those_in_line_go_first) {
  client mine = client::open(url(of_permits));
  semaphore s(mine, "s", 2);
  make_folders();
  const std::string first = make_foreign("locks/" + foreign + "-lock-");
  drop_placeholder("locks");
  drop_placeholder("leases");
  EXPECT_FALSE(bool(s.try_acquire()));
  std::atomic<bool> is_granted{false};
  std::jthread waiter([&] {
    lease held = s.acquire();
    is_granted = true;
  });
  ASSERT_TRUE(eventually([&] { return line().size() == 2; }));
  EXPECT_TRUE(leases().empty()) << "only the first in line makes leases";
  EXPECT_FALSE(is_granted);
  EXPECT_EQ(raw().remove(first).code, error::ok);
  waiter.join();
  EXPECT_TRUE(is_granted);
}

TEST_F(zookeeper_semaphore, refuses_another_total_than_that_of_its_holders) {
  client mine = client::open(url(of_permits)), other = client::open(url(of_permits));
  semaphore three(mine, "s", 3), four(other, "s", 4);
  lease held = three.acquire();
  std::error_code why;
  EXPECT_FALSE(bool(four.try_acquire({}, why)));
  EXPECT_EQ(why, errc::mismatch);
  EXPECT_FALSE(bool(four.acquire({}, why)));
  EXPECT_EQ(why, errc::mismatch);
  EXPECT_EQ(leases().size(), 1u);
  EXPECT_TRUE(line().empty());
  held.release();
  EXPECT_TRUE(bool(four.acquire())) << "nobody holds it";
}

TEST_F(zookeeper_semaphore, is_no_mutex_and_says_so) {
  client mine = client::open(url(of_permits));
  try {
    const mutex m(mine, "s");
    ADD_FAILURE() << "created";
  } catch (const lock_error& e) {
    EXPECT_EQ(e.code(), errc::unsupported);
    EXPECT_NE(std::string_view(e.what()).find("has no mutexes"), std::string_view::npos)
        << e.what();
  }
}

TEST_F(zookeeper_semaphore, takes_at_most_a_thousand_permits_at_once) {
  client mine = client::open(url(of_permits));
  semaphore s(mine, "s", 5000);
  std::error_code why;
  EXPECT_FALSE(bool(s.acquire({.permits = 1001}, why)));
  EXPECT_EQ(why, errc::unsupported);
  lease all = s.acquire({.permits = 1000});
  EXPECT_EQ(leases().size(), 1000u);
  all.release();
  EXPECT_TRUE(eventually([&] { return is_empty(); }));
}

TEST_F(zookeeper_semaphore, is_lost_when_one_of_its_leases_is_removed) {
  client mine = client::open(url(of_permits)),
         other = client::open(url(of_permits + "&revocation-timeout=0s"));
  semaphore s(mine, "s", 3);
  lease held = s.acquire(two);
  const auto watched = [&] {
    return server().ask("wchp").find(path("s/leases/") + leases().back()) != std::string::npos;
  };
  ASSERT_TRUE(eventually(watched));
  EXPECT_EQ(raw().remove(path("s/leases/") + leases().back()).code, error::ok);
  EXPECT_TRUE(eventually([&] { return !held.held(); }));
  std::error_code why;
  held.release(why);
  lease again = s.acquire(two);
  const auto seen = other.holders("s");
  ASSERT_FALSE(seen.empty());
  EXPECT_TRUE(other.break_lock("s", seen.back().owner));
  EXPECT_TRUE(eventually([&] { return !again.held(); }));
}

TEST_F(zookeeper_semaphore, a_holder_is_asked_before_its_permits_are_taken) {
  client mine = client::open(url(of_permits)),
         other = client::open(url(of_permits + "&revocation-timeout=1h"));
  semaphore s(mine, "s", 3);
  lease held = s.acquire(two);
  const std::string owner = held.owner();
  const auto asked = held.revocation_token();
  std::atomic<bool> was_held{false};
  std::jthread obedient([&] {
    EXPECT_TRUE(eventually([&] { return asked.stop_requested(); }));
    was_held = held.held();
    held.release();  // throws where it was lost
  });
  EXPECT_TRUE(other.break_lock("s", owner));
  obedient.join();
  EXPECT_TRUE(was_held);
  EXPECT_TRUE(eventually([&] { return is_empty(); }));
  EXPECT_FALSE(other.break_lock("s", owner));
}

// Curator's semaphore does not listen.
TEST_F(zookeeper_semaphore, permits_of_a_holder_that_does_not_answer_are_taken) {
  client other = client::open(url(of_permits + "&revocation-timeout=10ms"));
  make_folders();
  const std::string one = make_foreign("leases/" + foreign + "-lease-");
  EXPECT_TRUE(other.break_lock("s", foreign));
  EXPECT_EQ(raw().exists(one).code, error::no_node);
}

TEST_F(zookeeper_semaphore, is_had_and_returned_whatever_is_cut) {
  tcp_proxy proxy(server().port());
  client mine = client::open(url_at(proxy.port(), "layout=curator-semaphore&session-timeout=10s"));
  semaphore s(mine, "s", 3);
  std::int64_t last = 0;
  int cuts = 0;
  for (const direction d : {direction::to_server, direction::to_client}) {
    for (std::uint64_t bytes = 0; bytes < 700; bytes += 7) {
      SCOPED_TRACE("cut after " + std::to_string(bytes) + " bytes");
      proxy.cut_after(d, bytes);
      lease held = s.acquire(two);
      ASSERT_GT(held.token(), last);
      last = held.token();
      EXPECT_TRUE(eventually([&] { return leases().size() == 2; })) << leases().size();
      std::error_code why;
      held.release(why);
      EXPECT_TRUE(eventually([&] { return is_empty(); }));
      cuts += proxy.was_cut();
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(cuts, 50);
}

TEST_F(zookeeper_semaphore, is_waited_for_whatever_is_cut) {
  tcp_proxy proxy(server().port());
  client mine = client::open(url_at(proxy.port(), "layout=curator-semaphore&session-timeout=10s")),
         other = client::open(url(of_permits));
  semaphore a(mine, "s", 2), b(other, "s", 2);
  for (const direction d : {direction::to_server, direction::to_client}) {
    for (std::uint64_t bytes = 0; bytes < 1200; bytes += 29) {
      SCOPED_TRACE("cut after " + std::to_string(bytes) + " bytes");
      lease held = b.acquire();
      proxy.cut_after(d, bytes);
      lease waited;
      std::jthread waiter([&] { waited = a.acquire(two); });
      EXPECT_TRUE(eventually([&] { return line().size() == 1 && leases().size() == 3; }));
      EXPECT_EQ(held.status(), std::error_code());
      held.release();
      waiter.join();
      EXPECT_TRUE(waited.held());
      EXPECT_TRUE(eventually([&] { return line().empty() && leases().size() == 2; }));
      waited.release();
      EXPECT_TRUE(eventually([&] { return is_empty(); }));
      if (HasFailure()) return;
    }
  }
}

TEST_F(zookeeper_semaphore, whose_wait_is_given_up_during_a_cut_leaves_no_node) {
  tcp_proxy proxy(server().port());
  client mine = client::open(url_at(proxy.port(), "layout=curator-semaphore&session-timeout=10s")),
         other = client::open(url(of_permits));
  semaphore a(mine, "s", 2), b(other, "s", 2);
  for (std::uint64_t bytes = 0; bytes < 1000; bytes += 50) {
    lease held = b.acquire();
    proxy.cut_after(direction::to_client, bytes);
    std::error_code why;
    EXPECT_FALSE(bool(a.try_acquire_for(5ms, two, why)));
    EXPECT_FALSE(bool(a.try_acquire(two, why)));
    EXPECT_TRUE(eventually([&] { return leases().size() == 1 && line().empty(); })) << bytes;
    held.release();
  }
}

TEST_F(zookeeper_semaphore, is_lost_by_the_clock_before_the_next_client_has_the_permits) {
  tcp_proxy proxy(server().port());
  client mine = client::open(url_at(proxy.port(), of_permits)),
         other = client::open(url(of_permits));
  semaphore a(mine, "s", 2), b(other, "s", 2);
  lease held = a.acquire(two), next;
  std::atomic<bool> is_granted{false};
  std::jthread waiter([&] {
    next = b.acquire();
    is_granted = true;
  });
  ASSERT_TRUE(eventually([&] { return line().size() == 1; }));
  bool overlaps = false;
  proxy.set_both({.hold = true});
  ASSERT_TRUE(eventually([&] {
    const bool was_granted = is_granted;
    overlaps = overlaps || (was_granted && held.held());
    return was_granted;
  }));
  EXPECT_FALSE(overlaps);
  EXPECT_EQ(held.status(), errc::lost);
  EXPECT_GT(next.token(), held.token());
  proxy.set_both({});
  std::error_code why;
  held.release(why);
  EXPECT_EQ(why, errc::lost);
  waiter.join();
  next.release();
  EXPECT_TRUE(bool(a.acquire(two))) << "under a new session";
}

TEST_F(zookeeper_semaphore, is_waited_for_over_the_end_of_a_session) {
  tcp_proxy proxy(server().port());
  client holder = client::open(url(of_permits)),
         waiting = client::open(url_at(proxy.port(), of_permits));
  semaphore a(holder, "s", 1), b(waiting, "s", 1);
  lease held = a.acquire();
  std::jthread waiter([&] { EXPECT_TRUE(b.acquire().held()); });
  ASSERT_TRUE(eventually([&] { return line().size() == 1 && leases().size() == 2; }));
  proxy.set_both({.hold = true});
  ASSERT_TRUE(eventually([&] { return line().empty() && leases().size() == 1; }));
  proxy.set_both({});
  ASSERT_TRUE(eventually([&] { return line().size() == 1 && leases().size() == 2; }));
  held.release();
  waiter.join();
  EXPECT_TRUE(eventually([&] { return is_empty(); }));
}

// Six clients, three permits, one to three at a time: never more than three are out.
TEST_F(zookeeper_semaphore, never_gives_more_permits_than_there_are) {
  std::atomic<unsigned> out{0};
  std::vector<std::jthread> all;
  for (unsigned i = 0; i < 6; ++i)
    all.emplace_back([&, i] {
      client c = client::open(url("layout=curator-semaphore&session-timeout=10s"));
      semaphore s(c, "s", 3);
      for (unsigned j = 0; j < 10; ++j) {
        const unsigned n = 1 + (i + j) % 3;
        const lease held = s.acquire({.permits = n});
        EXPECT_LE(out += n, 3u);
        out -= n;
      }
    });
  all.clear();
  EXPECT_TRUE(eventually([&] { return is_empty(); }));
}

}  // namespace
}  // namespace holdfast::zookeeper_test
