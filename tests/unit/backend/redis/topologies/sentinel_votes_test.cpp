#include "backend/redis/topologies/sentinel/sentinel_votes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace holdfast::redis {
namespace {

// A deployment of sentinels that know each other by their ids; each names a master, or has not
// answered.
class some_answers {
 public:
  explicit some_answers(std::vector<std::string> ids) : ids_(std::move(ids)) {}

  some_answers& answers(const std::string& id, const std::string& master, std::uint64_t epoch,
                        const std::string& at = {}) {
    sentinel_answer a;
    a.id = id;
    if (!master.empty()) a.master = base::address{master, 6379, {}};
    a.epoch = epoch;
    a.monitored = "main";
    a.others.emplace();
    for (const std::string& other : ids_)
      if (other != id) a.others->push_back({other, {other, 26379, {}}});
    all_.push_back({at.empty() ? id : at, true, std::move(a), {}});
    return *this;
  }
  some_answers& fails(const std::string& id) {
    all_.push_back({id, true, std::nullopt, {errc::unavailable, "nothing listens there"}});
    return *this;
  }
  some_answers& refuses(const std::string& id) {
    all_.push_back({id, true, std::nullopt, {errc::refused, "WRONGPASS"}});
    return *this;
  }
  // The last one may not be asked for its id.
  some_answers& tells_no_id() {
    all_.back().answer->id.clear();
    return *this;
  }
  // None may be asked for its id.
  some_answers& tell_no_ids() {
    for (sentinel_state& s : all_)
      if (s.answer) s.answer->id.clear();
    return *this;
  }
  some_answers& list_nobody() {
    for (sentinel_state& s : all_) s.answer->others.reset();
    return *this;
  }
  some_answers& list_nobody_of(const std::string& id) {
    for (sentinel_state& s : all_)
      if (s.answer && s.answer->id == id) s.answer->others.reset();
    return *this;
  }
  const std::vector<sentinel_state>& states() const { return all_; }
  sentinel_verdict verdict() const { return judge(all_, "m"); }
  std::string master() const {
    const sentinel_verdict v = verdict();
    return v.master ? v.master->host : "";
  }

 private:
  std::vector<std::string> ids_;
  std::vector<sentinel_state> all_;
};

TEST(sentinel_votes, a_majority_names_the_master) {
  const std::vector<std::string> ids{"a", "b", "c"};
  EXPECT_EQ(some_answers(ids).answers("a", "x", 1).answers("b", "x", 1).master(), "x");
  EXPECT_EQ(some_answers(ids).answers("a", "x", 1).fails("b").answers("c", "x", 1).master(), "x");
  EXPECT_EQ(some_answers({"a"}).answers("a", "x", 0).master(), "x");
}

TEST(sentinel_votes, a_minority_names_none_and_the_others_are_listed_with_the_reason) {
  const auto v = some_answers({"a", "b", "c"}).answers("a", "x", 1).fails("b").verdict();
  EXPECT_FALSE(v.master);
  EXPECT_EQ(v.why.code, errc::unavailable);
  EXPECT_NE(v.why.text.find("1 of 3 sentinels"), v.why.text.npos) << v.why.text;
  EXPECT_NE(v.why.text.find("b (nothing listens there)"), v.why.text.npos) << v.why.text;
  EXPECT_NE(v.why.text.find("SENTINEL RESET"), v.why.text.npos) << v.why.text;
}

TEST(sentinel_votes, a_sentinel_that_is_left_behind_with_an_old_epoch_is_outvoted) {
  const auto s = some_answers({"a", "b", "c"})
                     .answers("a", "old", 0)
                     .answers("b", "new", 1)
                     .answers("c", "new", 1);
  EXPECT_EQ(s.master(), "new");
}

TEST(sentinel_votes, a_majority_with_an_older_epoch_names_nobody) {
  const auto v = some_answers({"a", "b", "c"})
                     .answers("a", "new", 1)
                     .answers("b", "old", 0)
                     .answers("c", "old", 0)
                     .verdict();
  EXPECT_FALSE(v.master);
  EXPECT_EQ(v.why.code, errc::unavailable);
  EXPECT_NE(v.why.text.find("a names new:6379 (config-epoch 1)"), v.why.text.npos) << v.why.text;
}

TEST(sentinel_votes, a_sentinel_has_one_vote_under_all_its_addresses) {
  const auto s = some_answers({"a", "b", "c"}).answers("a", "x", 1).answers("a", "x", 1, "also");
  EXPECT_EQ(s.master(), "");
  EXPECT_EQ(s.verdict().answered, 1u);
}

TEST(sentinel_votes, one_that_is_listed_under_another_address_is_not_counted_twice) {
  const auto s =
      some_answers({"a", "b", "c"}).answers("a", "x", 1).answers("b", "x", 1).fails("c.example");
  EXPECT_EQ(s.verdict().known, 3u);
}

TEST(sentinel_votes, addresses_without_an_answer_do_not_count_where_a_list_has_them_all) {
  auto s = some_answers({"a", "b"}).answers("a", "x", 1).answers("b", "x", 1);
  s.fails("a.example").fails("b.example");
  EXPECT_EQ(s.verdict().known, 2u);
  EXPECT_EQ(s.master(), "x");
  EXPECT_EQ(s.list_nobody_of("a").verdict().known, 2u) << "one list is enough";
}

TEST(sentinel_votes, one_that_does_not_say_its_id_is_known_by_its_address) {
  some_answers s({"a", "b", "c"});
  s.answers("a", "x", 1, "a:26379").answers("b", "x", 1, "b:26379").tell_no_ids();
  EXPECT_EQ(s.verdict().known, 3u);
  EXPECT_EQ(s.master(), "x");
}

TEST(sentinel_votes, those_that_report_neither_ids_nor_others_are_known_by_their_addresses) {
  some_answers s({"a", "b", "c"});
  s.answers("a", "x", 1).answers("b", "x", 1).tell_no_ids().list_nobody().fails("c");
  EXPECT_EQ(s.verdict().known, 3u);
  EXPECT_EQ(s.master(), "x");
}

TEST(sentinel_votes, one_that_does_not_say_its_id_has_one_vote_with_its_other_address) {
  some_answers s({"a", "b", "c"});
  s.answers("a", "x", 1, "alias:26379").answers("a", "x", 1, "a:26379").tells_no_id();
  s.answers("b", "y", 1, "b:26379");
  EXPECT_EQ(s.master(), "");
}

TEST(sentinel_votes, a_majority_that_refuses_is_a_refusal) {
  const std::vector<std::string> ids{"a", "b", "c"};
  const auto code = [](const some_answers& s) { return s.verdict().why.code; };
  EXPECT_EQ(code(some_answers(ids).answers("a", "x", 1).refuses("b").refuses("c")), errc::refused);
  EXPECT_EQ(code(some_answers(ids).answers("a", "x", 1).refuses("b").fails("c")),
            errc::unavailable);
}

TEST(sentinel_votes, without_lists_those_of_the_url_count) {
  auto s = some_answers({"a"}).answers("a", "x", 1).list_nobody();
  EXPECT_EQ(s.master(), "x");
  s.fails("b").fails("c");
  EXPECT_EQ(s.master(), "");
  EXPECT_EQ(s.verdict().known, 3u);
}

TEST(sentinel_votes, an_unknown_name_is_a_wrong_url_and_the_known_ones_are_listed) {
  const auto v = some_answers({"a", "b"}).answers("a", "", 0).answers("b", "", 0).verdict();
  EXPECT_EQ(v.why.code, errc::bad_url);
  EXPECT_NE(v.why.text.find("no master named \"m\""), v.why.text.npos) << v.why.text;
  EXPECT_NE(v.why.text.find("a monitors main"), v.why.text.npos) << v.why.text;
}

TEST(sentinel_votes, a_preferred_replica_that_may_lag_is_named) {
  sentinel_state s{"a", true, sentinel_answer{}, {}};
  s.answer->replicas = {{{"x", 6379, {}}, 10}, {{"y", 6379, {}}, 100}, {{"z", 6379, {}}, 0}};
  const std::vector<sentinel_state> all{s};
  EXPECT_NE(priority_fault(all, 1).find("x:6379 has replica-priority 10"), std::string::npos);
  EXPECT_EQ(priority_fault(all, 0), "");
  EXPECT_EQ(priority_fault(all, 2), "");
  s.answer->replicas[0].priority = 100;
  EXPECT_EQ(priority_fault(std::vector{s}, 1), "");
}

TEST(sentinel_votes, a_diagnosis_grades_the_sentinels) {
  const auto grade = [](const some_answers& s) {
    const auto found = findings_of(s.states(), "m");
    return found.empty() ? finding_grade::bad : found.front().grade;
  };
  const std::vector<std::string> ids{"a", "b", "c"};
  some_answers all(ids);
  all.answers("a", "x", 1).answers("b", "x", 1);
  EXPECT_EQ(grade(all), finding_grade::warn);
  all.answers("c", "x", 1);
  EXPECT_EQ(grade(all), finding_grade::good);
  EXPECT_EQ(grade(some_answers({"a"}).answers("a", "x", 1)), finding_grade::warn);
  EXPECT_EQ(grade(some_answers(ids).answers("a", "x", 1)), finding_grade::bad);
}

TEST(sentinel_votes, one_that_has_not_answered_yet_is_named_as_such) {
  const std::vector<sentinel_state> all{{"a", true, std::nullopt, {}}};
  const std::string why = judge(all, "m").why.text;
  EXPECT_NE(why.find("no answer yet"), why.npos) << why;
  EXPECT_EQ(why.find("SENTINEL RESET"), why.npos) << "there is none to send it to: " << why;
}

TEST(sentinel_votes, sentinels_that_differ_are_listed_with_what_they_say) {
  const auto v = some_answers({"a", "b", "c"})
                     .answers("a", "x", 1)
                     .answers("b", "", 0)
                     .answers("c", "y", 1)
                     .verdict();
  EXPECT_EQ(v.why.code, errc::unavailable);
  EXPECT_NE(v.why.text.find("a names x:6379 (config-epoch 1), b knows no such master, c names y"),
            v.why.text.npos)
      << v.why.text;
}

TEST(sentinel_votes, one_that_monitors_no_master_is_named_as_such) {
  sentinel_state s{"a", true, sentinel_answer{}, {}};
  const std::string why = judge(std::vector{s}, "m").why.text;
  EXPECT_NE(why.find("a monitors none"), why.npos) << why;
}

TEST(sentinel_votes, the_epoch_of_a_verdict_is_the_newest) {
  const auto v = some_answers({"a", "b", "c"})
                     .answers("a", "x", 3)
                     .answers("b", "x", 2)
                     .answers("c", "", 9)
                     .verdict();
  ASSERT_TRUE(v.master);
  EXPECT_EQ(v.epoch, 3u) << "that of one without a master does not count";
}

TEST(sentinel_votes, replicas_that_may_be_promoted_are_counted_in_the_remedy) {
  sentinel_state s{"a", true, sentinel_answer{}, {}};
  s.answer->replicas = {{{"w", 6379, {}}, 0},
                        {{"x", 6379, {}}, 10},
                        {{"y", 6379, {}}, 50},
                        {{"z", 6379, {}}, 90}};
  EXPECT_EQ(priority_fault(std::vector{s}, 2),
            "replicas=2 guarantees nothing here: x:6379 has replica-priority 10 and would be "
            "promoted even if it lags behind z:6379, which has 90; give all the same "
            "replica-priority, or replicas=3");
  EXPECT_EQ(priority_fault(std::vector{s}, 3), "");
}

TEST(sentinel_votes, a_diagnosis_names_the_master_and_the_reasons) {
  const std::vector<std::string> ids{"a", "b", "c"};
  some_answers most(ids);
  most.answers("a", "x", 1).answers("b", "x", 1).fails("c");
  EXPECT_EQ(findings_of(most.states(), "m").at(0).why,
            "2 of 3 sentinels answer: c (nothing listens there)");
  some_answers all(ids);
  all.answers("a", "x", 1).answers("b", "x", 1).answers("c", "x", 1);
  EXPECT_EQ(findings_of(all.states(), "m").at(0).why, "3 of 3 sentinels answer and name x:6379");
  some_answers two({"a", "b"});
  two.answers("a", "x", 1).answers("b", "x", 1);
  EXPECT_EQ(findings_of(two.states(), "m").at(0).grade, finding_grade::warn);
}

TEST(sentinel_votes, a_diagnosis_warns_once_of_replicas_that_are_preferred) {
  std::vector<sentinel_state> all = some_answers({"a", "b", "c"})
                                        .answers("a", "x", 1)
                                        .answers("b", "x", 1)
                                        .answers("c", "x", 1)
                                        .states();
  EXPECT_EQ(findings_of(all, "m").size(), 1u);
  for (sentinel_state& s : all)
    s.answer->replicas = {{{"y", 6379, {}}, 10}, {{"z", 6379, {}}, 100}};
  const auto found = findings_of(all, "m");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].grade, finding_grade::warn);
}

TEST(sentinel_votes, nobody_has_been_asked_yet) {
  const auto v = some_answers({}).fails("a").verdict();
  EXPECT_FALSE(v.master);
  EXPECT_EQ(v.why.code, errc::unavailable);
}

}  // namespace
}  // namespace holdfast::redis
