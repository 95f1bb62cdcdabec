// The model of an ensemble, compared with three real servers reply by reply.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "tests/sim/zookeeper/compared/model_client.hpp"
#include "tests/sim/zookeeper/compared/random_requests.hpp"
#include "tests/sim/zookeeper/compared/two_ensembles.hpp"

namespace holdfast::sim::zk {
namespace {

using client = two_servers::client;

constexpr int places = 3;

request plain(op type, std::string body = {}) {
  request q;
  q.type = type;
  q.body = std::move(body);
  return q;
}

// Three sessions, one at each place. Between two requests of different sessions every server has
// what was written: what a follower shows before that, no list of requests determines.
class compared_sessions {
 public:
  explicit compared_sessions(two_ensembles& s) : servers_(s) {
    for (int place = 1; place <= places; ++place) {
      all_.push_back(std::make_unique<client>(servers_, "session " + std::to_string(place), place));
      EXPECT_EQ(all_.back()->connects(), "");
    }
    EXPECT_EQ(all_.front()->differs({plain(op::create, creation("/t", 0))}), "");
  }

  std::string play(random_requests& drawn, bool changes_leaders) {
    std::string out;
    for (int n = drawn.below(4) + 1; n > 0 && out.empty(); --n) out = differ(drawn);
    if (out.empty() && drawn.chance(10)) out = renew(drawn);
    if (out.empty() && drawn.chance(5)) out = move(false);
    if (out.empty() && changes_leaders) out = move(true);
    return out;
  }

 private:
  std::string differ(random_requests& drawn) {
    const auto number = static_cast<std::size_t>(drawn.below(places));
    client& one = *all_[number];
    if (const std::string before = one.is_in_step(); !before.empty()) return before;
    random_requests same = drawn;
    const auto to_real = drawn.batch(one.last_zxid());
    const auto to_model = same.batch(one.model_last_zxid());
    if (const std::string out = one.differs(to_real, to_model); !out.empty()) return out;
    return are_in_step();
  }

  // A session ends, and another one begins.
  std::string renew(random_requests& drawn) {
    const int place = drawn.below(places) + 1;
    auto& one = all_[static_cast<std::size_t>(place - 1)];
    if (const std::string out = one->is_in_step(); !out.empty()) return out;
    if (const std::string out = one->ends_with({plain(op::close_session)}, true); !out.empty())
      return out;
    one = std::make_unique<client>(servers_, "session " + std::to_string(++renewed_), place);
    if (const std::string out = one->connects(); !out.empty()) return out;
    // The session was made by a write, which the other servers may not have.
    if (const std::string out = one->is_in_step(); !out.empty()) return out;
    return are_in_step(true);
  }

  // Each session goes to the next place, or to the same one after a change of the leaders.
  std::string move(bool changes_leaders) {
    for (const auto& one : all_) one->leaves();
    if (changes_leaders) servers_.change_leaders();
    for (int place = 1; place <= places; ++place) {
      auto& one = all_[static_cast<std::size_t>(place - 1)];
      auto moved =
          std::make_unique<client>(servers_, one->name(), changes_leaders ? place : place % 3 + 1);
      if (const std::string out = moved->connects_as(*one); !out.empty()) return out;
      one = std::move(moved);
    }
    if (!changes_leaders) std::rotate(all_.begin(), all_.end() - 1, all_.end());
    return are_in_step();
  }

  std::string are_in_step(bool in_any_order = false) {
    for (const auto& one : all_)
      if (const std::string out = one->is_in_step(in_any_order); !out.empty()) return out;
    return {};
  }

  two_ensembles& servers_;
  std::vector<std::unique_ptr<client>> all_;  // by place
  int renewed_ = places;
};

// HOLDFAST_COMPARED_LISTS: how many lists, for a long comparison.
int lists_wanted() {
  constexpr int usual = 100;
  const char* const wanted = std::getenv("HOLDFAST_COMPARED_LISTS");
  return wanted ? std::atoi(wanted) : usual;
}

TEST(zookeeper_ensemble_model, answers_random_lists_as_three_real_servers_do) {
  if (!testkit::zookeeper_server::installed())
    GTEST_SKIP() << testkit::zookeeper_server::not_installed;
  two_ensembles servers;
  compared_sessions sessions(servers);
  const int lists = lists_wanted();
  for (int list = 1; list <= lists; ++list) {
    random_requests drawn(static_cast<std::uint64_t>(list));
    const bool is_due = list % 1000 == 0 || list == lists / 2;
    ASSERT_EQ(sessions.play(drawn, is_due), "") << "list " << list;
  }
}

}  // namespace
}  // namespace holdfast::sim::zk
