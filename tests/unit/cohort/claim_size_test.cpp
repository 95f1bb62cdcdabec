// A client may have a hundred thousand claims: what one takes grows in a commit that says so, and
// nowhere else. bench/bars.toml has the bars on all memory of a lease: memory/renewal and
// redis/renewal.
#include <gtest/gtest.h>

#include "backend/memory/memory_layout.hpp"
#include "cohort/claim_record.hpp"
#include "cohort/local_lock.hpp"
#include "cohort/turn.hpp"
#ifdef HOLDFAST_WITH_REDIS
#include "backend/redis/layouts/string/string_claim.hpp"
#endif

namespace holdfast {
namespace {

TEST(claim_size, of_the_core_has_not_grown) {
  EXPECT_LE(sizeof(cohort::claim_record), 136u);
  EXPECT_LE(sizeof(detail::turn), 72u);
  EXPECT_LE(sizeof(detail::local_lock), 344u);
}

TEST(claim_size, of_memory_has_not_grown) {
  EXPECT_LE(sizeof(memory::claim), 184u);
  EXPECT_LE(sizeof(memory::recipe), 48u);
  EXPECT_LE(sizeof(memory::entry), 104u);  // the store's side
}

#ifdef HOLDFAST_WITH_REDIS
TEST(claim_size, of_redis_has_not_grown) {
  EXPECT_LE(sizeof(redis::claim), 248u);
  EXPECT_LE(sizeof(redis::queueing_recipe), 80u);
}
#endif

}  // namespace
}  // namespace holdfast
