// The findings of several servers in one list.
#include "backend/redis/diagnosis/joint_findings.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::redis {
namespace {

struct reported_findings final : seam::findings_handler {
  void on_result(std::vector<finding> all) override {
    ++answers;
    for (const finding& f : all) text += f.what + ": " + f.why + '\n';
  }
  void on_failed(base::failure why) override {
    ++answers;
    text = "failed: " + why.text;
  }

  int answers = 0;
  std::string text;
};

void start_joint(std::vector<std::string> names, seam::findings_handler& to,
                 const std::function<void(std::size_t, seam::findings_handler&)>& diagnose) {
  start_joint_diagnosis(std::move(names), diagnose, to);
}

TEST(redis_joint_findings, without_a_server_are_one_bad_finding_at_once) {
  reported_findings to;
  start_joint({}, to, [](std::size_t, seam::findings_handler&) { ADD_FAILURE(); });
  EXPECT_EQ(to.answers, 1);
  EXPECT_EQ(to.text, "server: no server that stores locks is known\n");
}

TEST(redis_joint_findings, name_the_server_of_each_finding_that_is_not_shared) {
  reported_findings to;
  start_joint({"a", "b"}, to, [](std::size_t i, seam::findings_handler& one) {
    std::vector<finding> found{{"version", finding_grade::good, "7.0", {}}};
    if (i == 1) found.push_back({"memory", finding_grade::warn, "it may evict keys", {}});
    one.on_result(std::move(found));
  });
  EXPECT_EQ(to.answers, 1);
  EXPECT_EQ(to.text, "version: 7.0\nmemory: b: it may evict keys\n");
}

TEST(redis_joint_findings, a_server_that_cannot_be_examined_is_a_finding_of_its_own) {
  reported_findings to;
  start_joint({"a", "b"}, to, [](std::size_t i, seam::findings_handler& one) {
    if (i == 0) return one.on_failed({errc::unavailable, "no answer"});
    one.on_result({{"version", finding_grade::good, "7.0", {}}});
  });
  EXPECT_EQ(to.answers, 1);
  EXPECT_EQ(to.text, "server: a: it cannot be examined: no answer\nversion: b: 7.0\n");
}

TEST(redis_joint_findings, are_shared_only_if_they_are_the_same_in_each_part) {
  reported_findings to;
  start_joint({"a", "b"}, to, [](std::size_t i, seam::findings_handler& one) {
    const auto grade_of_memory = i == 0 ? finding_grade::good : finding_grade::warn;
    one.on_result({{i == 0 ? "clock" : "latency", finding_grade::good, "1 ms", {}},
                   {"memory", grade_of_memory, "noeviction", {}},
                   {"version", finding_grade::good, i == 0 ? "7.0" : "7.2", {}},
                   {"replicas", finding_grade::good, "none", {}}});
  });
  EXPECT_EQ(to.text, "clock: a: 1 ms\nmemory: a: noeviction\nversion: a: 7.0\nreplicas: none\n"
                     "latency: b: 1 ms\nmemory: b: noeviction\nversion: b: 7.2\n");
}

TEST(redis_joint_findings, are_reported_when_the_last_answer_is_there) {
  reported_findings to;
  std::vector<seam::findings_handler*> parts;
  start_joint({"a", "b"}, to,
              [&](std::size_t, seam::findings_handler& one) { parts.push_back(&one); });
  ASSERT_EQ(parts.size(), 2u);
  parts[1]->on_result({});
  EXPECT_EQ(to.answers, 0);
  parts[0]->on_result({{"version", finding_grade::good, "7.0", {}}});
  EXPECT_EQ(to.answers, 1);
  EXPECT_EQ(to.text, "version: a: 7.0\n");
}

}  // namespace
}  // namespace holdfast::redis
