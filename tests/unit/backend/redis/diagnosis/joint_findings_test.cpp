// The findings of several servers in one list.
#include "backend/redis/diagnosis/joint_findings.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
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
                 const joint_findings::diagnosis& diagnose) {
  joint_findings::start(std::make_unique<joint_findings>(std::move(names), to), diagnose);
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

}  // namespace
}  // namespace holdfast::redis
