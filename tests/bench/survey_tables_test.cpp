#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "survey/claims.hpp"
#include "survey/documents.hpp"
#include "survey/sizes.hpp"

namespace {

using survey::cell;
using survey::measurement;

// A run of one second.
cell one_second(const std::string& topology, const std::string& lock, const std::string& load,
                const measurement& m) {
  cell c{.topology = topology, .lock = lock, .load = load, .runs = {m}};
  c.runs[0].seconds = 1;
  return c;
}

measurement acquired(std::uint64_t count) { return {.attempts = count, .acquired = count}; }

survey::checked_claim claim_about(const survey::results& r, std::string_view beginning) {
  for (const auto& c : survey::check_claims(r))
    if (c.text.starts_with(beginning)) return c;
  ADD_FAILURE() << "no claim begins with " << beginning;
  return {};
}

std::string result_about_redlock(std::uint64_t one_server, std::uint64_t redlock) {
  const survey::results r{.cells = {one_second("redis", "string", "free", acquired(one_server)),
                                    one_second("redlock", "redlock", "free", acquired(redlock))}};
  return claim_about(r, "Redlock costs").result;
}

TEST(survey_claims, an_order_is_confirmed_by_figures_that_clearly_fall) {
  EXPECT_EQ(result_about_redlock(5000, 800), "confirmed");
  EXPECT_EQ(result_about_redlock(800, 5000), "contradicted");
  EXPECT_EQ(result_about_redlock(5000, 4900), "no difference above 10 %");
}

TEST(survey_claims, a_limit_is_compared_with_one_figure) {
  measurement setnx = acquired(40'000);
  setnx.server_commands = 120'000;
  const survey::results r{
      .cells = {one_second("redis", "setnx", "separate-64", setnx),
                one_second("redis", "string", "separate-64", acquired(40'000))}};
  const auto operations = claim_about(r, "One Redis server");
  EXPECT_EQ(operations.result, "confirmed");
  EXPECT_EQ(operations.theirs, "100,000 per second");
  EXPECT_EQ(operations.measured, "redis setnx 120,000 per second");
  EXPECT_EQ(operations.how,
            "commands that the server executes, load separate-64; each command is a request");
  EXPECT_EQ(claim_about(r, "and it grants as many locks").result, "contradicted");
}

TEST(survey_claims, a_time_is_at_most_its_limit) {
  measurement slow = acquired(1), fast = acquired(1);
  slow.acquire.add(std::chrono::milliseconds(2));
  fast.acquire.add(std::chrono::microseconds(200));
  const auto result_for = [](const measurement& m) {
    const survey::results r{.cells = {one_second("redis", "lua", "free", m)}};
    return claim_about(r, "A free lock of Redis").result;
  };
  EXPECT_EQ(result_for(slow), "contradicted");
  EXPECT_EQ(result_for(fast), "confirmed");
}

TEST(survey_claims, turns_are_compared_by_the_index_of_fairness) {
  measurement fair = acquired(100), unfair = acquired(100);
  fair.jain = 0.99;
  unfair.jain = 0.125;
  const survey::results r{.cells = {one_second("redis", "string", "hot-256", fair),
                                    one_second("redis", "lua", "hot-256", unfair)}};
  const auto turns = claim_about(r, "A direct hand-off");
  EXPECT_EQ(turns.result, "confirmed");
  EXPECT_EQ(turns.measured, "redis string 0.990; redis lua 0.125");
  EXPECT_EQ(turns.how, "Jain's index, load hot-256");
}

TEST(survey_claims, a_claim_without_its_figures_is_not_measured) {
  const survey::results none;
  for (const auto& c : survey::check_claims(none)) {
    EXPECT_EQ(c.measured, "-");
    EXPECT_EQ(c.result, "not measured");
  }
  const survey::results of_unknown_servers{
      .cells = {one_second("redis", "setnx", "separate-64", acquired(40'000))}};
  EXPECT_EQ(claim_about(of_unknown_servers, "One Redis server").result, "not measured");
}

TEST(survey_sizes, a_load_needs_servers_that_are_half_busy) {
  measurement costs = acquired(1000);
  costs.server_cpu = 0.01901;  // seconds: 19.01 us each
  measurement memory = acquired(1);
  memory.server_memory = 136;
  const survey::results r{.cells = {one_second("redis", "string", "separate-64", costs),
                                    one_second("redis", "string", "held", memory)}};
  const survey::table rows = survey::size_table(r);
  ASSERT_EQ(rows.size(), 2u);
  const std::vector<std::string> expected{"redis", "string", "shards", "1",
                                          "4",     "381",    "7",      "13.6"};
  EXPECT_EQ(rows[1], expected);
}

TEST(survey_sizes, the_servers_of_an_ensemble_share_the_work_and_renew_nothing) {
  measurement costs = acquired(1000);
  costs.server_cpu = 1.21;
  const survey::results r{.cells = {one_second("zookeeper-3", "sequence", "separate-64", costs)}};
  const survey::table rows = survey::size_table(r);
  ASSERT_EQ(rows.size(), 2u);
  const std::vector<std::string> expected{"zookeeper-3", "sequence", "ensembles of 3",
                                          "1",           "81",       "8,067",
                                          "-",           "-"};
  EXPECT_EQ(rows[1], expected);
}

TEST(survey_sizes, what_costs_no_server_and_demonstrations_are_left_out) {
  measurement costs = acquired(1000);
  cell unsafe = one_second("redis", "setnx", "separate-64", costs);
  unsafe.runs[0].server_cpu = 1;
  unsafe.is_unsafe = true;
  const survey::results r{.cells = {unsafe, one_second("file", "flock", "separate-64", costs),
                                    one_second("redis", "string", "separate-64", costs)}};
  EXPECT_EQ(survey::size_table(r).size(), 1u);
}

TEST(survey_documents, a_line_has_the_figures_of_its_cell) {
  measurement m{.attempts = 1000, .acquired = 900};
  const survey::results r{.cells = {one_second("mysql", "version", "documents", m),
                                    one_second("mysql", "version", "free", m)}};
  const survey::table rows = survey::documents_table(r);
  ASSERT_EQ(rows.size(), 2u);
  const std::vector<std::string> expected{"MySQL",   "optimistic, by version",
                                          "90.00 %", "900",
                                          "1,000",   "ok"};
  EXPECT_EQ(rows[1], expected);
}

TEST(survey_documents, without_their_load_there_is_no_line) {
  const survey::results r{.cells = {one_second("mysql", "version", "free", acquired(1))}};
  EXPECT_EQ(survey::documents_table(r).size(), 1u);
}

}  // namespace
