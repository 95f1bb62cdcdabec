#include "tests/interop/zookeeper/table.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace holdfast::zookeeper_wire {
namespace {

using namespace std::chrono_literals;

constexpr auto long_before_a_session_ends = 30s;

}  // namespace

std::string ms_text(clock::duration d) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f ms", std::chrono::duration<double, std::milli>(d).count());
  return text;
}

std::size_t queue_view::count(const std::string& path) const {
  const std::string names = client_.names(path);
  if (names.empty() || names == "-") return 0;
  return static_cast<std::size_t>(std::ranges::count(names, ' ')) + 1;
}

void direction::add(const std::string& what, const std::string& result) const {
  into.add(types, holder.name(), waiter.name(), what, result);
}

// What was queued on the way to the place where it waits may be gone again: twice the same count.
std::shared_future<clock::time_point> direction::asleep() const {
  const std::size_t before = nodes.queued();
  auto waiting = waiter.wait();
  std::size_t last = 0;
  EXPECT_TRUE(eventually([&] {
    const std::size_t now = nodes.queued();
    return std::exchange(last, now) == now && now > before && waiter.is_asleep();
  })) << nodes.text();
  return waiting;
}

void direction::exclusion() const {
  holder.hold();
  EXPECT_FALSE(waiter.try_once());
  EXPECT_TRUE(holder.release());
  EXPECT_TRUE(waiter.try_once());
  EXPECT_TRUE(eventually([&] { return nodes.queued() == 0; }));  // no attempt leaves a node
  add("exclusion", "yes");
}

void direction::sharing() const {
  holder.hold();
  waiter.hold();
  EXPECT_TRUE(holder.release());
  EXPECT_TRUE(waiter.release());
  add("shared", "yes");
}

void direction::wake_up() const {
  holder.hold();
  const auto waiting = asleep();
  EXPECT_TRUE(is_pending(waiting));
  const auto begun = clock::now();
  EXPECT_TRUE(holder.release());
  const auto late = waiting.get() - begun;
  EXPECT_LT(late, long_before_a_session_ends);
  EXPECT_TRUE(waiter.release());
  add("wake-up after", ms_text(late));
}

// The others believe in their lock until they are asked to look, and their release frees nothing.
void direction::loss_of_the_holder() const {
  holder.hold();
  const auto waiting = asleep();
  const auto begun = clock::now();
  holder.lose_session();
  const auto entered = waiting.get();
  const bool believes = holder.believes();
  const bool is_told = holder.is_ours();
  EXPECT_FALSE(is_told && believes);
  holder.recover();
  const bool was_held = holder.release();
  EXPECT_FALSE(is_told && was_held);
  EXPECT_FALSE(holder.try_once());
  EXPECT_TRUE(waiter.believes());
  EXPECT_TRUE(waiter.release());
  add("session loss, after", ms_text(entered - begun) + (believes ? "; it believes to hold it"
                                                                  : "; it knows of its loss"));
}

void direction::loss_of_the_waiter() const {
  holder.hold();
  EXPECT_TRUE(eventually([&] { return nodes.queued() == 1; })) << nodes.text();
  const auto waiting = asleep();
  waiter.lose_session();
  EXPECT_TRUE(eventually([&] { return nodes.queued() == 1 || !waiter.is_ours(); })) << nodes.text();
  waiter.recover();
  EXPECT_TRUE(eventually([&] { return nodes.queued() > 1; })) << nodes.text();
  EXPECT_TRUE(is_pending(waiting));
  EXPECT_TRUE(holder.release());
  waiting.get();
  EXPECT_TRUE(waiter.release());
  add("waiter's session loss", "queued again");
}

// A session of ours that is to be lost is short; the others outlast a busy machine.
void try_everything(const zookeeper_server& server, const queue_view& nodes, result_table& into,
                    const kind& held, const kind& wanted) {
  both_ways(server, nodes, into, held, wanted, [](const direction& d) {
    d.exclusion();
    d.wake_up();
    if (!d.holder.is_ours()) d.loss_of_the_holder();
    if (!d.waiter.is_ours()) d.loss_of_the_waiter();
  });
  kind short_held = held, short_wanted = wanted;
  short_held.session = short_wanted.session = "2s";
  both_ways(server, nodes, into, short_held, short_wanted, [](const direction& d) {
    if (d.holder.is_ours()) d.loss_of_the_holder();
    if (d.waiter.is_ours()) d.loss_of_the_waiter();
  });
}

void serve_in_order(const zookeeper_server& server, const queue_view& nodes, result_table& into,
                    const kind& k) {
  std::vector<std::unique_ptr<contender>> all;
  for (int i = 0; i < 6; ++i)
    all.push_back(i % 2 ? contender_of_ours(server, k) : contender_of_theirs(server, k));
  all.front()->hold();
  std::vector<std::shared_future<clock::time_point>> waiting(1);
  for (std::size_t i = 1; i < all.size(); ++i) {
    const std::size_t before = nodes.queued();
    waiting.push_back(all[i]->wait());
    EXPECT_TRUE(eventually([&] { return nodes.queued() > before; }));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0) waiting[i].get();
    for (std::size_t later = i + 1; later < all.size(); ++later)
      EXPECT_TRUE(is_pending(waiting[later])) << later << " entered before " << i;
    EXPECT_TRUE(all[i]->release());
  }
  into.add(k.type, all[0]->name(), all[1]->name(), "in turns", "5 waiters in order");
}

void count_together(const zookeeper_server& server, const queue_view& nodes, result_table& into,
                    const kind& k) {
  constexpr int times = 25, threads = 2;
  const std::string node = "/n-" + k.type.substr(0, k.type.find_first_of(":+"));
  EXPECT_EQ(nodes.by().ask("create " + node + " PERSISTENT 0"), node);
  const auto theirs = contender_of_theirs(server, k);
  const std::unique_ptr<contender> mine[threads] = {contender_of_ours(server, k),
                                                    contender_of_ours(server, k)};
  const peer_client counter(k.of == library::curator ? curator() : kazoo(), address_of(server));
  std::vector<call> counting;
  for (int i = 0; i < threads; ++i)
    counting.push_back(counter.send('t' + std::to_string(i), "count " + k.type + " /x " + node +
                                                                 ' ' + std::to_string(times)));
  for (int n = 0; n < threads * times; ++n) {
    mine[n % threads]->hold();
    const int before = std::stoi(nodes.by().ask("data " + node));
    EXPECT_EQ(nodes.by().ask("set " + node + ' ' + std::to_string(before + 1)), "");
    EXPECT_TRUE(mine[n % threads]->release());
  }
  for (const call& one : counting) EXPECT_EQ(text_of(one.wait()), "");
  const std::string sum = nodes.by().ask("data " + node);
  EXPECT_EQ(sum, std::to_string(2 * threads * times));
  into.add(k.type, mine[0]->name(), theirs->name(), "counted together", sum);
}

}  // namespace holdfast::zookeeper_wire
