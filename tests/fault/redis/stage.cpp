#include "stage.hpp"

#include <algorithm>

namespace holdfast::redis_test {

using testkit::operation;
using testkit::result;

std::string quick_with(const std::string& more) { return std::string(quick) + '&' + more; }

told told_by(const std::function<void()>& what) {
  told t;
  const auto begun = std::chrono::steady_clock::now();
  try {
    what();
  } catch (const lock_error& e) {
    t.code = e.code();
    t.text = e.what();
  }
  t.took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                                 begun);
  return t;
}

void expect_safe(const lease& held, redis_server& server, const std::string& name) {
  const auto deadline = held.expires();
  const auto left = server.command({"PTTL", name});
  const auto now = lease_clock::now();
  ASSERT_GE(left.number, 0) << name << " has no time to live: " << to_text(left);
  EXPECT_LE(deadline, now + std::chrono::milliseconds(left.number + 1));
}

void expect_no_key_left(redis_server& server) {
  const auto left = [&] {
    auto keys = server.command({"KEYS", "*"}).items;
    std::erase_if(keys, [](const auto& key) { return key.text == "holdfast:n"; });
    return keys;
  };
  EXPECT_TRUE(eventually([&] { return left().empty(); }));
  for (const auto& key : left()) ADD_FAILURE() << "left behind: " << key.text;
}

void expect_nothing_left(redis_server& server) {
  expect_no_key_left(server);
  EXPECT_TRUE(eventually([&] {
    return server.command({"PUBSUB", "CHANNELS"}).items.empty();
  })) << "somebody still listens";
}

crowd::crowd(const std::vector<std::string>& urls, terms t) : terms_(t) {
  for (const auto& url : urls) clients_.push_back(client::open(url));
  const int count = static_cast<int>(urls.size()) * terms_.threads_each;
  for (int i = 0; i < count; ++i) {
    threads_.emplace_back([this, i] {
      const auto which = static_cast<std::size_t>(i) % clients_.size();
      stress::player one(clients_[which],
                         "client" + std::to_string(which) + '.' + std::to_string(i), writer_,
                         resource_,
                         {.longest_work = std::chrono::microseconds(terms_.longest_work)},
                         seed_ + static_cast<std::uint64_t>(i));
      for (; !over_; ++plays_) one.play();
    });
  }
}

void crowd::wait_for_plays(std::uint64_t more) const {
  const auto enough = plays_ + more;
  EXPECT_TRUE(eventually([&] { return plays_ >= enough; }))
      << "the crowd stands still at " << plays_;
}

void crowd::finish() {
  if (threads_.empty()) return;
  over_ = true;
  threads_.clear();
  clients_.clear();
  const auto records = testkit::read_history(folder_.path() + "/history").records;
  const auto granted = std::count_if(records.begin(), records.end(), [](const auto& r) {
    return r.what == operation::acquire && r.outcome == result::ok;
  });
  EXPECT_GE(granted, terms_.least_granted) << "nothing was put to the test";
  EXPECT_EQ(to_text(check(records, terms_.check)), "") << "HOLDFAST_STRESS_SEED=" << seed_;
}

}  // namespace holdfast::redis_test
