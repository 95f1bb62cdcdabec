#include "run.hpp"

#include <stdlib.h>

#include <optional>
#include <string>

#include "history/history.hpp"
#include "testkit/servers/scratch_folder.hpp"

namespace stress {
namespace {

// HOLDFAST_TEST_KEEP is another one for the life of the object.
class kept_elsewhere {
 public:
  explicit kept_elsewhere(const std::string& folder) {
    if (const char* const given = ::getenv("HOLDFAST_TEST_KEEP")) before_ = given;
    ::setenv("HOLDFAST_TEST_KEEP", folder.c_str(), 1);
  }
  ~kept_elsewhere() {
    ::unsetenv("HOLDFAST_TEST_KEEP");
    if (before_) ::setenv("HOLDFAST_TEST_KEEP", before_->c_str(), 1);
  }

 private:
  std::optional<std::string> before_;
};

TEST(stress_history, is_kept_whole_and_in_order_for_whoever_studies_a_failure) {
  const holdfast::testkit::scratch_folder folder;
  const kept_elsewhere there(folder.file("kept"));
  const auto played = holdfast::history::parse_history("b L acquire 30 40 ok 2 - shared\n"
                                                       "a L acquire 10 20 ok 1 -\n");
  const auto path = keep_history(played.records, 7);
  EXPECT_EQ(path, folder.file("kept") + "/stress_history." +
                      "is_kept_whole_and_in_order_for_whoever_studies_a_failure.7.history");
  const auto kept = holdfast::history::read_history(path).records;
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0], played.records[1]);
  EXPECT_EQ(kept[1], played.records[0]);
}

}  // namespace
}  // namespace stress
