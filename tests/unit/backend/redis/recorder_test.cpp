// The header that a client writes into its recorder's file.
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "base/recording.hpp"
#include "tests/unit/backend/redis/on_model.hpp"

namespace holdfast::redis {
namespace {

struct with_recorder final : on_model {
  std::unique_ptr<base::recording> make_recording(const base::recording_terms& t,
                                                  base::failure&) override {
    terms = t;
    return nullptr;
  }
  std::optional<base::recording_terms> terms;
};

TEST(redis_recorder, begins_with_the_first_lock_and_times_leases_exactly) {
  with_recorder w;
  client c = w.open("ttl=5s&prefix=p:");
  (void)c.list();
  EXPECT_FALSE(w.terms);
  const mutex m = c.mutex("x");
  ASSERT_TRUE(w.terms);
  EXPECT_EQ(w.terms->store, "redis://model:1?prefix=p:");
  EXPECT_FALSE(w.terms->is_coarse);
}

}  // namespace
}  // namespace holdfast::redis
