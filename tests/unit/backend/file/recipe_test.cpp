#include "backend/file/recipe.hpp"

#include <gtest/gtest.h>

#include <random>

#include "backend/file/record.hpp"
#include "tests/unit/backend/file/wall_number.hpp"

namespace holdfast::file {
namespace {

using namespace std::chrono_literals;
using state = recipe::state;

observation record_of(std::int64_t number) { return {true, content::record, number, wall}; }

recipe held(std::int64_t in_file) {
  recipe r;
  r.acquire({.is_open = true});
  r.on(event::locked);
  r.looked(record_of(in_file));
  EXPECT_EQ(r.on(event::written), action::grant);
  return r;
}

TEST(file_recipe, takes_a_free_lock_in_four_steps) {
  recipe r;
  EXPECT_EQ(r.acquire({.is_open = true}), action::try_lock);
  EXPECT_EQ(r.on(event::locked), action::look);
  EXPECT_EQ(r.looked(record_of(5)), action::write);
  EXPECT_EQ(r.on(event::written), action::grant);
  EXPECT_EQ(r.now(), state::held);
  EXPECT_EQ(r.on(event::release), action::unlock);
  EXPECT_EQ(r.on(event::unlocked), action::end);
  EXPECT_EQ(r.now(), state::free);
}

TEST(file_recipe, opens_the_file_first) {
  recipe r;
  EXPECT_EQ(r.acquire({}), action::open);
  EXPECT_EQ(r.on(event::opened), action::try_lock);
}

TEST(file_recipe, waits_for_a_held_lock) {
  recipe r;
  r.acquire({.is_open = true});
  EXPECT_EQ(r.on(event::busy), action::wait);
  EXPECT_EQ(r.on(event::locked), action::look);
}

TEST(file_recipe, one_attempt_is_made_again_while_nobody_probes_and_then_given_up) {
  recipe r;
  r.acquire({.one_attempt = true, .is_open = true});
  EXPECT_EQ(r.on(event::busy), action::try_unprobed);
  EXPECT_EQ(r.on(event::busy), action::refuse);
  EXPECT_EQ(r.why(), reason::busy);
  EXPECT_EQ(r.now(), state::free);
}

TEST(file_recipe, one_attempt_may_succeed_when_made_again) {
  recipe r;
  r.acquire({.one_attempt = true, .is_open = true});
  r.on(event::busy);
  EXPECT_EQ(r.on(event::locked), action::look);
}

TEST(file_recipe, behind_others_it_does_not_try_first) {
  recipe r;
  EXPECT_EQ(r.acquire({.behind = true, .is_open = true}), action::wait);
  EXPECT_EQ(recipe().acquire({.behind = true}), action::open);
  EXPECT_EQ(r.on(event::interrupted), action::end);
  EXPECT_EQ(r.acquire({.one_attempt = true, .behind = true, .is_open = true}), action::try_lock);
}

TEST(file_recipe, a_wait_that_is_stopped_ends) {
  recipe r;
  r.acquire({.is_open = true});
  r.on(event::busy);
  EXPECT_EQ(r.on(event::interrupted), action::end);
  EXPECT_EQ(r.now(), state::free);
}

TEST(file_recipe, a_file_that_is_not_the_folders_any_more_is_opened_anew) {
  recipe r;
  r.acquire({.is_open = true});
  r.on(event::locked);
  EXPECT_EQ(r.looked({.same_file = false, .what = content::record, .number = 9, .wall = wall}),
            action::reopen);
  EXPECT_EQ(r.on(event::opened), action::try_lock);
}

TEST(file_recipe, a_file_that_is_deleted_for_ever_is_given_up) {
  recipe r;
  action a = r.acquire({.is_open = true});
  int openings = 0;
  while (a != action::refuse && openings < 10'000) {
    switch (a) {
      case action::try_lock: a = r.on(event::locked); break;
      case action::look: a = r.looked({.same_file = false, .wall = wall}); break;
      case action::reopen: ++openings, a = r.on(event::opened); break;
      case action::unlock: a = r.on(event::unlocked); break;
      default: FAIL() << "no such step here";
    }
  }
  EXPECT_EQ(openings, 100);
  EXPECT_EQ(r.why(), reason::unsteady);
}

TEST(file_recipe, writes_nothing_into_what_is_no_record) {
  for (const auto& [what, why] : {std::pair{content::garbage, reason::garbage},
                                  std::pair{content::another, reason::another}}) {
    recipe r;
    r.acquire({.is_open = true});
    r.on(event::locked);
    EXPECT_EQ(r.looked({true, what, 7, wall}), action::unlock);
    EXPECT_EQ(r.on(event::unlocked), action::refuse);
    EXPECT_EQ(r.why(), why);
    EXPECT_EQ(r.now(), state::free);
  }
}

TEST(file_recipe, an_empty_file_starts_at_the_clock) {
  recipe r;
  r.acquire({.is_open = true});
  r.on(event::locked);
  EXPECT_EQ(r.looked({true, content::empty, 0, wall}), action::write);
  EXPECT_EQ(r.number(), wall_number);
}

TEST(file_recipe, a_number_is_never_below_the_clock) {
  EXPECT_EQ(held(17).number(), wall_number);
  EXPECT_EQ(held(wall_number - 2).number(), wall_number);
}

TEST(file_recipe, a_number_is_greater_than_the_files) {
  EXPECT_EQ(held(wall_number).number(), wall_number + 1);
  EXPECT_EQ(held(wall_number + 1'000'000).number(), wall_number + 1'000'001);
}

TEST(file_recipe, a_number_is_greater_than_our_last_though_file_and_clock_went_back) {
  recipe r = held(wall_number + 50);
  r.on(event::release);
  r.on(event::unlocked);
  r.acquire({.is_open = true});
  r.on(event::locked);
  r.looked({true, content::empty, 0, 12us});
  EXPECT_EQ(r.number(), wall_number + 52);
}

TEST(file_recipe, numbers_end_at_53_bits) {
  recipe r;
  r.acquire({.is_open = true});
  r.on(event::locked);
  EXPECT_EQ(r.looked(record_of(number_max)), action::unlock);
  EXPECT_EQ(r.on(event::unlocked), action::refuse);
  EXPECT_EQ(r.why(), reason::exhausted);
  EXPECT_EQ(held(number_max - 1).number(), number_max);
}

TEST(file_recipe, what_fails_under_the_lock_releases_it) {
  recipe r;
  r.acquire({.is_open = true});
  r.on(event::locked);
  EXPECT_EQ(r.on(event::failed), action::unlock);
  EXPECT_EQ(r.on(event::unlocked), action::refuse);
  EXPECT_EQ(r.why(), reason::failed);

  r.acquire({.is_open = true});
  r.on(event::locked);
  r.looked(record_of(3));
  EXPECT_EQ(r.on(event::failed), action::unlock);
  EXPECT_EQ(r.on(event::unlocked), action::refuse);
}

TEST(file_recipe, what_fails_without_the_lock_is_just_refused) {
  recipe r;
  r.acquire({});
  EXPECT_EQ(r.on(event::failed), action::refuse);
  r.acquire({.is_open = true});
  EXPECT_EQ(r.on(event::failed), action::refuse);
  r.acquire({.is_open = true});
  r.on(event::busy);
  EXPECT_EQ(r.on(event::failed), action::refuse);
  EXPECT_EQ(r.now(), state::free);
}

// Whatever the file system answers: each acquire comes to one answer, the lock is held exactly when
// it was granted, and numbers grow.
TEST(file_recipe, any_answers_lead_to_one_outcome) {
  std::mt19937_64 random(4);
  recipe r;
  std::int64_t in_file = 0, last = 0;
  for (int round = 0; round < 20'000; ++round) {
    bool locked = false, open = random() % 2;
    const recipe::request request{random() % 2 == 0, random() % 2 == 0, open};
    action a = r.acquire(request);
    int steps = 0;
    while (a != action::grant && a != action::refuse && a != action::end) {
      ASSERT_LT(++steps, 1000);
      const bool fails = random() % 20 == 0;
      switch (a) {
        case action::open:
        case action::reopen:
          locked = false;
          open = !fails;
          a = r.on(fails ? event::failed : event::opened);
          break;
        case action::try_lock:
        case action::try_unprobed:
          ASSERT_TRUE(open && !locked);
          locked = !fails && random() % 2;
          a = r.on(fails ? event::failed : locked ? event::locked : event::busy);
          break;
        case action::wait:
          ASSERT_TRUE(open && !locked && !request.one_attempt);
          locked = !fails && random() % 4 != 0;
          a = r.on(fails ? event::failed : locked ? event::locked : event::interrupted);
          break;
        case action::look: {
          ASSERT_TRUE(locked);
          const auto clock = std::chrono::microseconds{random() % 1000};
          const bool gone = random() % 10 == 0;
          if (gone) in_file = 0;
          const content what = in_file == 0 ? content::empty : content::record;
          a = fails ? r.on(event::failed) : r.looked({!gone, what, in_file, clock});
          break;
        }
        case action::write:
          ASSERT_TRUE(locked);
          ASSERT_GT(r.number(), in_file);
          if (!fails) in_file = r.number();
          a = r.on(fails ? event::failed : event::written);
          break;
        case action::unlock:
          ASSERT_TRUE(locked);
          locked = false;
          a = r.on(event::unlocked);
          break;
        default: FAIL();
      }
    }
    ASSERT_EQ(locked, a == action::grant);
    ASSERT_EQ(r.now(), locked ? state::held : state::free);
    if (!locked) continue;
    ASSERT_GT(r.number(), last);
    last = r.number();
    ASSERT_EQ(r.on(event::release), action::unlock);
    ASSERT_EQ(r.on(event::unlocked), action::end);
  }
}

}  // namespace
}  // namespace holdfast::file
