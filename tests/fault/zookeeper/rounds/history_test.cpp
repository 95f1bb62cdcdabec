// The judge of histories can tell: what the fault tests let it judge is sound as the library is,
// and is not with a fault planted.
#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <atomic>
#include <stop_token>
#include <thread>
#include <utility>

#include "rounds.hpp"
#include "tests/fault/call_recorder.hpp"

namespace holdfast::zookeeper_test {
namespace {

using base::mutant;
using fault_test::call_recorder;

constexpr auto wake_up_max = 2s;

// Two clients of the lock "x", the second one behind a proxy.
struct two_clients {
  explicit two_clients(const std::string& part) : root('/' + part) {
    raw.open();
    EXPECT_EQ(raw.create(root).code, error::ok);
    const std::string options = root + "?session-timeout=20s";
    first = client::open(shared_server().url() + options);
    second = client::open(at_port(proxy.port(), options));
  }
  std::vector<std::string> nodes() { return raw.children_of(root + "/x"); }
  // How many sessions watch that node: its own client does a while after it has the lock, and the
  // client that waits for its end.
  static std::ptrdiff_t watchers(const std::string& node) {
    const std::string all = shared_server().ask("wchp");
    const std::size_t at = all.find(node), next = all.find("\n/", at);
    if (at == all.npos) return 0;
    return std::ranges::count(all.substr(at, next - at), '\t');
  }

  const std::string root;
  session_client raw{shared_server().url()};
  tcp_proxy proxy{shared_server().port()};
  client first, second;
  call_recorder calls;
};

// Another program writes to the holder's node, as a request to release it does, while another
// waits.
void write_to_the_holder_s_node(two_clients& of) {
  lease held = of.calls.acquire("a", of.first, "x");
  const auto before = of.nodes();
  ASSERT_EQ(before.size(), 1u);
  std::atomic<bool> has_entered{false};
  std::thread next([&] {
    lease got = of.calls.acquire("b", of.second, "x");
    has_entered = true;
    of.calls.check("b", got);
    of.calls.release("b", got);
  });
  const auto is_watched = [&] { return of.watchers(before.front()) == 2; };
  EXPECT_TRUE(eventually(is_watched));
  EXPECT_EQ(of.raw.set_data(of.root + "/x/" + before.front(), "asked").code, error::ok);
  EXPECT_TRUE(eventually([&] { return has_entered || is_watched(); }));
  of.calls.check("a", held);
  of.calls.release("a", held);
  next.join();
}

void hold_in_turn(two_clients& of) {
  for (int i = 0; i < 3; ++i) {
    lease held = of.calls.acquire("a", of.first, "x");
    of.calls.release("a", held);
    held = of.calls.acquire("b", of.second, "x");
    of.calls.release("b", held);
  }
}

// The session of the waiter moves to another connection; then the lock becomes free.
void move_the_waiter(two_clients& of) {
  lease held = of.calls.acquire("a", of.first, "x");
  const auto before = of.nodes();
  ASSERT_EQ(before.size(), 1u);
  std::atomic<bool> has_ended{false};
  std::jthread next([&](std::stop_token stop) {
    lease got = of.calls.acquire_until(std::move(stop), "b", of.second, "x");
    has_ended = true;
    if (got) of.calls.release("b", got);
  });
  EXPECT_TRUE(eventually([&] { return of.watchers(before.front()) == 2; }));
  const auto connections = of.proxy.counts().accepted;
  of.proxy.reset_all();
  EXPECT_TRUE(eventually([&] { return of.proxy.counts().accepted > connections; }));
  (void)of.second.holders("x");  // answered once it is attached again
  of.calls.release("a", held);
  // One that nobody wakes is left for longer than a wake-up may take.
  const auto end = lease_clock::now() + wake_up_max * 5 / 4;
  while (!has_ended && lease_clock::now() < end) std::this_thread::sleep_for(1ms);
  next.request_stop();
  next.join();
}

struct judged_case {
  const char* name;
  mutant planted;
  history::fault expected;
  void (*play)(two_clients&);
};

constexpr judged_case judged_cases[] = {
    {"overlap", mutant::change_taken_for_the_end, history::fault::overlap,
     write_to_the_holder_s_node},
    {"tokens", mutant::number_of_another_node, history::fault::token_not_grown, hold_in_turn},
    {"wake-up", mutant::watches_not_set_again, history::fault::lost_wake_up, move_the_waiter},
};

class zookeeper_history : public on_zookeeper {};

TEST_F(zookeeper_history, is_sound_and_with_a_planted_fault_is_not) {
  constexpr history::check_options of_a_lost_wake_up{.wake_bound = wake_up_max};
  for (const judged_case& c : judged_cases) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, c.name);
    two_clients sound(std::string(c.name) + "-sound");
    c.play(sound);
    EXPECT_EQ(to_text(sound.calls.violations()), "");
    two_clients broken(std::string(c.name) + "-broken");
    const planted_mutant control(c.planted);
    c.play(broken);
    const auto found = broken.calls.violations(of_a_lost_wake_up);
    EXPECT_TRUE(std::ranges::any_of(found, [&](const auto& v) { return v.what == c.expected; }))
        << to_text(found);
  }
}

}  // namespace
}  // namespace holdfast::zookeeper_test
