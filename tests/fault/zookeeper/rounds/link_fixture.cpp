#include "link_fixture.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <string_view>
#include <thread>

namespace holdfast::zookeeper_test {
namespace {

using testkit::direction;
using testkit::zookeeper_ensemble;

// From here on the leader's pings do not arrive, which a follower answers with the sessions that it
// has had requests of. Returns when a few were dropped, which is after a tick or so.
void drop_pings_of_leader(tcp_proxy& link) {
  constexpr int enough = 3;
  const auto dropped = std::make_shared<std::atomic<int>>(0);
  const auto drop = [dropped](std::string& bytes) {
    constexpr std::string_view type("\0\0\0\5", 4), nothing("\xff\xff\xff\xff\xff\xff\xff\xff", 8);
    constexpr std::size_t zxid = 8, whole = type.size() + zxid + nothing.size();
    for (std::size_t at = bytes.find(type); at != bytes.npos; at = bytes.find(type, at + 1)) {
      if (bytes.compare(at + type.size() + zxid, nothing.size(), nothing) != 0) continue;
      bytes.erase(at, whole);
      ++*dropped;
    }
  };
  link.set(direction::to_client, {.mutate = drop});
  EXPECT_TRUE(eventually([&] { return *dropped >= enough; }));
}

// One that writes all the time, until it is told to end.
class busy_client {
 public:
  busy_client(const client& c, bool is_busy) : ends_(!is_busy), thread_([this, c] { write(c); }) {}
  ~busy_client() { end(); }
  busy_client(const busy_client&) = delete;
  busy_client& operator=(const busy_client&) = delete;

  void end() {
    ends_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  void write(const client& c) const {
    while (!ends_) {
      std::error_code out_of_reach;
      (void)c.mutex("busy").try_acquire_for(100ms, {}, {}, out_of_reach);
    }
  }

  std::atomic<bool> ends_;
  std::thread thread_;
};

}  // namespace

void link_result::print(const char* what) const {
  std::printf("%s: %d rounds, %d overlaps, smallest margin %.3f s\n", what, rounds, overlaps,
              margin_min);
}

bool link_fixture::serves() {
  int leaders = 0, followers = 0;
  for (int id = 1; id <= zookeeper_ensemble::servers; ++id) {
    const std::string mode = all_.at(id).mode();
    leaders += mode == "leader";
    followers += mode == "follower";
  }
  return leaders == 1 && followers == 2;
}

void link_fixture::begin(link_fault fault, const places& at, const std::vector<tcp_proxy*>& links) {
  if (fault == link_fault::report_lost) drop_pings_of_leader(*links.front());
  for (tcp_proxy* l : links) {
    if (fault == link_fault::follower_cut) {
      l->refuse(true);
      l->reset_all();
    } else {
      l->set_both({.hold = true});
    }
  }
  if (fault != link_fault::leader_forgotten) return;
  for (const int id : {at.first, at.second}) all_.at(id).kill_hard();
  for (const int id : {at.first, at.second}) all_.at(id).start();
}

void link_fixture::play(const link_round_terms& p, link_result& out) {
  ASSERT_TRUE(eventually([&] { return serves(); }));
  const bool is_at_leader =
      p.fault == link_fault::leader_isolated || p.fault == link_fault::leader_forgotten;
  places at{};
  at.leader = all_.leader();
  at.first = at.leader == 1 ? 2 : 1;
  at.second = 6 - at.leader - at.first;
  at.holder = is_at_leader ? at.leader : at.first;
  // A leader ends sessions at multiples of its tick, and followers report to it at halves.
  const auto timeout = p.timeout + tick_ / 10 * (out.rounds % 10);
  const auto holder = client::open(all_.at(at.holder).url() + "?op-timeout=60s&session-timeout=" +
                                   std::to_string(timeout.count()) + "ms" + p.options);
  const std::string elsewhere = all_.at(is_at_leader ? at.first : at.leader).url() +
                                ",127.0.0.1:" + std::to_string(all_.at(at.second).port());
  const auto rival = client::open(elsewhere + "?session-timeout=5s&op-timeout=60s");
  session_client other(all_.at(at.second).url() + "?op-timeout=60s");
  other.open();
  fault_test::call_recorder calls;
  const lease held = calls.acquire("holder", holder, "link");
  busy_client busy(holder, p.holder_is_busy);
  std::atomic<bool> is_judged{false};  // before the fault where a busy machine ends the session
  std::thread waiter([&] {
    const lease got = calls.acquire("rival", rival, "link");
    const auto granted = lease_clock::now();
    calls.check("holder", held);
    const double margin = std::chrono::duration<double>(granted - held.expires()).count();
    out.margin_min = std::min(out.margin_min, margin);
    is_judged = true;
  });
  EXPECT_TRUE(eventually([&] {
    const auto stat = zookeeper::read_stat(other.exists("/link").bytes());
    return is_judged || (stat && stat->children == 2);
  }));
  std::vector<tcp_proxy*> links{&all_.link(at.first, at.leader)};
  if (is_at_leader) links.push_back(&all_.link(at.second, at.leader));
  begin(p.fault, at, links);
  waiter.join();
  for (tcp_proxy* l : links) {
    l->refuse(false);
    l->set_both({});
    l->reset_all();
  }
  busy.end();
  out.overlaps += calls.violations().empty() ? 0 : 1;
  ++out.rounds;
}

}  // namespace holdfast::zookeeper_test
