#include <gtest/gtest.h>

#include "backend/file/recipe.hpp"
#include "tests/unit/backend/file/wall_number.hpp"

namespace holdfast::file {
namespace {

using namespace std::chrono_literals;
using state = recipe::state;

constexpr kind share{.mode = lock_mode::shared};
constexpr kind permits(std::uint32_t count, std::uint32_t of) {
  return {lock_mode::permit, count, of};
}

observation seen(std::int64_t number, const kind& as, bool taken) {
  return {.same_file = true,
          .what = content::record,
          .number = number,
          .wall = wall,
          .as = as,
          .taken = taken};
}

// Up to the look.
recipe looking(const kind& as, bool one_attempt = false) {
  recipe r;
  EXPECT_EQ(r.acquire({.one_attempt = one_attempt, .is_open = true, .as = as}), action::try_lock);
  EXPECT_EQ(r.on(event::locked), action::guard);
  EXPECT_EQ(r.on(event::guarded), action::look);
  return r;
}

TEST(file_sharing_recipe, the_first_reader_writes_a_new_number_and_marks_its_seat) {
  recipe r = looking(share);
  EXPECT_EQ(r.looked(seen(7, share, false)), action::claim_bytes);
  EXPECT_EQ(r.number(), wall_number);
  EXPECT_EQ(r.on(event::claimed), action::write);
  EXPECT_EQ(r.on(event::written), action::mark);
  EXPECT_EQ(r.on(event::written), action::grant);
  EXPECT_EQ(r.on(event::release), action::unlock);
  EXPECT_EQ(r.on(event::unlocked), action::end);
  EXPECT_EQ(r.now(), state::free);
}

TEST(file_sharing_recipe, a_reader_among_others_takes_their_number_and_writes_none) {
  recipe r = looking(share);
  EXPECT_EQ(r.looked(seen(wall_number + 9, share, true)), action::claim_bytes);
  EXPECT_EQ(r.number(), wall_number + 9);
  EXPECT_EQ(r.on(event::claimed), action::mark);
  EXPECT_EQ(r.on(event::written), action::grant);
}

TEST(file_sharing_recipe, seats_beside_the_record_of_one_that_had_it_alone_are_no_group) {
  recipe r = looking(share);
  EXPECT_EQ(r.looked(seen(wall_number + 9, {}, true)), action::claim_bytes);
  EXPECT_EQ(r.number(), wall_number + 10);
  EXPECT_EQ(r.on(event::claimed), action::write);
}

TEST(file_sharing_recipe, each_holder_of_permits_has_a_number_of_its_own) {
  recipe r = looking(permits(2, 5));
  EXPECT_EQ(r.looked(seen(wall_number + 9, permits(1, 5), true)), action::claim_bytes);
  EXPECT_EQ(r.number(), wall_number + 10);
  EXPECT_EQ(r.on(event::claimed), action::write);
}

TEST(file_sharing_recipe, held_as_another_kind_is_reported_and_not_held_is_not) {
  for (const auto& [held, asked] :
       {std::pair{permits(1, 5), share}, {share, permits(1, 5)}, {permits(1, 5), permits(1, 6)}}) {
    recipe r = looking(asked);
    EXPECT_EQ(r.looked(seen(7, held, true)), action::unlock);
    EXPECT_EQ(r.on(event::unlocked), action::refuse);
    EXPECT_EQ(r.why(), reason::another_kind);
    EXPECT_EQ(looking(asked).looked(seen(7, held, false)), action::claim_bytes);
  }
  recipe r;
  r.acquire({.is_open = true, .as = permits(1, 5)});
  EXPECT_EQ(r.on(event::another), action::refuse);
  EXPECT_EQ(r.why(), reason::another_kind);
}

TEST(file_sharing_recipe, steps_back_for_those_that_come_first) {
  for (const bool taken : {true, false}) {
    recipe r = looking(share);
    observation others = seen(7, share, taken);
    others.others_first = true;
    EXPECT_EQ(r.looked(others), action::unlock);
    EXPECT_EQ(r.on(event::unlocked), action::wait);
    EXPECT_EQ(r.on(event::locked), action::guard);
    EXPECT_EQ(r.on(event::guarded), action::look);
    EXPECT_EQ(r.looked(seen(7, share, taken)), action::claim_bytes);
  }
}

TEST(file_sharing_recipe, one_attempt_while_others_come_first_is_busy_unless_nobody_is_there) {
  for (const kind& as : {share, permits(1, 5)}) {
    recipe r = looking(as, true);
    observation others = seen(7, as, true);
    others.others_first = true;
    EXPECT_EQ(r.looked(others), action::unlock);
    EXPECT_EQ(r.on(event::unlocked), action::refuse);
    EXPECT_EQ(r.why(), reason::busy);
    others.taken = false;
    EXPECT_EQ(looking(as, true).looked(others), action::claim_bytes);
  }
}

TEST(file_sharing_recipe, a_full_semaphore_is_waited_for_or_busy) {
  recipe r = looking(permits(2, 5));
  r.looked(seen(7, permits(1, 5), true));
  EXPECT_EQ(r.on(event::full), action::unlock);
  EXPECT_EQ(r.on(event::unlocked), action::wait);
  EXPECT_EQ(r.on(event::interrupted), action::end);
  recipe once = looking(permits(2, 5), true);
  once.looked(seen(7, permits(1, 5), true));
  EXPECT_EQ(once.on(event::full), action::unlock);
  EXPECT_EQ(once.on(event::unlocked), action::refuse);
  EXPECT_EQ(once.why(), reason::busy);
}

TEST(file_sharing_recipe, a_guard_that_stays_locked_is_waited_for_or_reported) {
  recipe r;
  r.acquire({.is_open = true, .as = share});
  r.on(event::locked);
  EXPECT_EQ(r.on(event::busy), action::unlock);
  EXPECT_EQ(r.on(event::unlocked), action::wait);
  EXPECT_EQ(r.on(event::locked), action::guard);
  EXPECT_EQ(r.on(event::interrupted), action::unlock);
  EXPECT_EQ(r.on(event::unlocked), action::end);
  recipe once;
  once.acquire({.one_attempt = true, .is_open = true, .as = share});
  once.on(event::locked);
  EXPECT_EQ(once.on(event::busy), action::unlock);
  EXPECT_EQ(once.on(event::unlocked), action::refuse);
  EXPECT_EQ(once.why(), reason::failed);
}

TEST(file_sharing_recipe, what_fails_under_the_lock_releases_it) {
  for (int steps = 0; steps < 4; ++steps) {
    recipe r;
    r.acquire({.is_open = true, .as = share});
    r.on(event::locked);
    if (steps > 0) r.on(event::guarded);
    if (steps > 1) r.looked(seen(7, share, false));
    if (steps > 2) r.on(event::claimed);
    EXPECT_EQ(r.on(event::failed), action::unlock);
    EXPECT_EQ(r.on(event::unlocked), action::refuse);
    EXPECT_EQ(r.why(), reason::failed);
    EXPECT_EQ(r.now(), state::free);
  }
}

}  // namespace
}  // namespace holdfast::file
