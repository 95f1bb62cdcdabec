// The file that keeps inspections and single attempts apart.
#include "backend/file/probe_gate.hpp"

#include "backend/file/repeated_calls.hpp"
#include "tests/unit/backend/file/folder_fixture.hpp"

namespace holdfast::file {
namespace {

class file_probe_gate : public a_lock_folder {
 protected:
  // Whether another process could probe now.
  bool is_open_for_probes() const { return other_description(path(".probe")).try_lock(LOCK_EX); }
  // Whether one could during the attempt of a claim.
  bool is_open_during_attempt() {
    return all.gate.unprobed([this] { return is_open_for_probes(); });
  }
};

TEST_F(file_probe_gate, is_shut_for_probes_during_an_attempt) {
  EXPECT_FALSE(is_open_during_attempt());
  EXPECT_TRUE(is_open_for_probes()) << "and open afterwards";
  EXPECT_FALSE(is_open_during_attempt());
}

TEST_F(file_probe_gate, is_shut_for_attempts_during_a_probe) {
  const descriptor probe = all.gate.open_for_probing();
  ASSERT_TRUE(probe);
  const other_description attempt(path(".probe"));
  probe_gate::begin_probe(probe);
  EXPECT_FALSE(attempt.try_lock(LOCK_SH));
  probe_gate::end_probe(probe);
  EXPECT_TRUE(attempt.try_lock(LOCK_SH));
}

TEST_F(file_probe_gate, is_the_file_that_replaced_a_deleted_one) {
  EXPECT_FALSE(is_open_during_attempt());
  std::filesystem::remove(path(".probe"));
  EXPECT_FALSE(is_open_during_attempt());
  EXPECT_TRUE(exists(".probe"));
}

TEST_F(file_probe_gate, does_not_refuse_an_attempt_for_a_probe_that_never_ends) {
  const other_description stopped(path(".probe"));
  ASSERT_TRUE(stopped.try_lock(LOCK_EX));
  EXPECT_EQ(all.gate.unprobed([] { return 7; }), 7);
  EXPECT_FALSE(is_open_for_probes()) << "the probe is not ended";
}

TEST_F(file_probe_gate, does_not_refuse_an_attempt_where_its_file_cannot_be_opened) {
  std::filesystem::create_directory(path(".probe"));
  EXPECT_EQ(all.gate.unprobed([] { return 7; }), 7);
  const descriptor none = all.gate.open_for_probing();
  EXPECT_FALSE(none);
  probe_gate::begin_probe(none);
  probe_gate::end_probe(none);
}

TEST(file_retried_call, ends_at_its_first_success) {
  int calls = 0;
  EXPECT_TRUE(retry_briefly([&] { return ++calls == 3; }));
  EXPECT_EQ(calls, 3);
}

TEST(file_retried_call, that_never_succeeds_ends_too) {
  EXPECT_FALSE(retry_briefly([] { return false; }));
}

}  // namespace
}  // namespace holdfast::file
