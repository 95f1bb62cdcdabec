// Elections: candidates, leaders and observers.
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "behaviour.hpp"

namespace contract {
namespace {

using holdfast::election;
using holdfast::errc;

// Who leads, once somebody does: a store may learn of a holder by its first renewal.
std::optional<holdfast::holder> observed(const election& office) {
  std::optional<holdfast::holder> seen;
  (void)becomes([&] { return (seen = office.observe()).has_value(); });
  return seen;
}

void one_candidate_leads_and_others_observe_it(fixture& on) {
  election office(on.client(), "office"), rival(on.client(), "office");
  const election observer(on.client(), "office");
  EXPECT_FALSE(observer.observe());
  EXPECT_FALSE(office.is_leader());
  const auto& term = office.campaign("10.0.0.1:80");
  EXPECT_TRUE(office.is_leader());
  EXPECT_FALSE(term.in_doubt());
  EXPECT_FALSE(rival.try_campaign("10.0.0.2:80"));
  EXPECT_FALSE(rival.is_leader());
  const auto seen = observed(observer);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->name, "office");
  EXPECT_TRUE(seen->token == 0 || seen->token == term.token()) << seen->token;
  office.resign();
  EXPECT_FALSE(office.is_leader());
  EXPECT_FALSE(observer.observe());
}

void the_value_of_a_leader_is_observed(fixture& on) {
  election office(on.client(), "office");
  const election observer(on.client(), "office");
  office.campaign("10.0.0.1:80 \u00fcber");
  auto seen = observed(observer);
  becomes([&] {
    if (seen && seen->note.empty()) seen = observer.observe();
    return !seen || !seen->note.empty();
  });
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->note, "10.0.0.1:80 \u00fcber");
}

void a_leader_that_resigns_is_followed_by_a_candidate(fixture& on) {
  election office(on.client(), "office"), next(on.client(), "office");
  const auto token = office.campaign("a").token();
  caller<bool> waiting([&] { return next.campaign("b").held(); });
  ASSERT_TRUE(waiting.waits());
  EXPECT_FALSE(next.is_leader());
  office.resign();
  ASSERT_TRUE(waiting.comes_back());
  EXPECT_TRUE(waiting.result());
  EXPECT_TRUE(next.is_leader());
  EXPECT_FALSE(office.is_leader());
  EXPECT_TRUE(on.is_later(next.term().token(), token));
}

void a_leader_that_is_killed_is_followed_by_a_candidate(fixture& on) {
  election office(on.client(), "office");
  const auto other = on.short_lived_other();
  const auto before = token_of(other->ask("campaign office a"));
  ASSERT_NE(before, 0);
  EXPECT_TRUE(observed(office));
  caller<bool> waiting([&] { return office.campaign("b").held(); });
  ASSERT_TRUE(waiting.waits());
  other->kill();
  ASSERT_TRUE(waiting.comes_back());
  EXPECT_TRUE(waiting.result());
  EXPECT_TRUE(on.is_later(office.term().token(), before));
  EXPECT_TRUE(observed(office));
}

void a_leader_that_is_deposed_leads_no_longer(fixture& on) {
  const auto client = on.short_lived_client();
  election office(client, "office"), next(on.client(), "office");
  const auto& term = office.campaign("a");
  const auto token = term.token();
  on.store().lose_leases_of(client);
  next.campaign("b");
  EXPECT_TRUE(comes(term.doubt_token()));
  EXPECT_TRUE(comes(term.loss_token()));
  EXPECT_FALSE(office.is_leader());
  EXPECT_TRUE(term.in_doubt());
  EXPECT_TRUE(on.is_later(next.term().token(), token));
  EXPECT_EQ(thrown_by([&] { office.resign(); }), errc::lost);
  EXPECT_TRUE(next.is_leader());
}

// The owners that an observer has reported; "" while nobody leads.
class observer_thread {
 public:
  explicit observer_thread(const holdfast::client& c) : office_(c, "office") {}
  bool reports(const std::string& owner) {
    return becomes([&] {
      const std::lock_guard guard(mutex_);
      return !owners_.empty() && owners_.back() == owner;
    });
  }
  std::string last() {
    const std::lock_guard guard(mutex_);
    return owners_.empty() ? "" : owners_.back();
  }

 private:
  const election office_;
  std::mutex mutex_;
  std::vector<std::string> owners_;
  std::jthread thread_{[this](const std::stop_token& stop) {
    office_.observe(
        [this](const std::optional<holdfast::holder>& leader) {
          const std::lock_guard guard(mutex_);
          owners_.push_back(leader ? leader->owner : "");
        },
        stop, std::chrono::milliseconds(20));
  }};
};

void an_observer_is_notified_of_each_leader(fixture& on) {
  observer_thread observer(on.client());
  EXPECT_TRUE(observer.reports(""));
  std::string before;
  for (int i = 0; i < 2; ++i) {
    election office(on.client(), "office");
    office.campaign("a");
    EXPECT_TRUE(becomes([&] { return !observer.last().empty(); }));
    EXPECT_NE(observer.last(), before) << "each term has an owner of its own";
    before = observer.last();
    office.resign();
    EXPECT_TRUE(observer.reports(""));
  }
}

}  // namespace

behaviours elections() {
  return {
      CONTRACT_BEHAVIOUR(138, one_candidate_leads_and_others_observe_it, in_threads, exclusively,
                         nothing),
      CONTRACT_BEHAVIOUR(139, the_value_of_a_leader_is_observed, in_threads, exclusively, nothing),
      CONTRACT_BEHAVIOUR(140, a_leader_that_resigns_is_followed_by_a_candidate, in_threads,
                         exclusively, nothing),
      CONTRACT_BEHAVIOUR(141, a_leader_that_is_killed_is_followed_by_a_candidate, in_processes,
                         exclusively, nothing),
      CONTRACT_BEHAVIOUR(142, a_leader_that_is_deposed_leads_no_longer, in_threads, exclusively,
                         deadline),
      CONTRACT_BEHAVIOUR(143, an_observer_is_notified_of_each_leader, in_threads, exclusively,
                         nothing),
  };
}

}  // namespace contract
