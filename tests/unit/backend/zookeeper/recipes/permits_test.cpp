// The state table of recipes/permits.hpp, row by row.
#include "backend/zookeeper/recipes/permits.hpp"

#include "tests/unit/backend/zookeeper/recipes/played_recipe.hpp"

namespace holdfast::zookeeper::session_recipe_tests {
namespace {

struct permit_words {
  using operation = permit_operation;
  using verdict = permit_verdict;
  static inline const std::map<operation, std::string> operations =
      {{operation::take, "take"},
       {operation::join, "join"},
       {operation::look, "look"},
       {operation::find, "find"},
       {operation::lease, "lease"},
       {operation::count, "count"},
       {operation::recount, "recount"},
       {operation::watch_own, "watch_own"},
       {operation::check_waiters, "check_waiters"},
       {operation::leave_queue, "leave_queue"},
       {operation::remove, "remove"}};
  static inline const std::map<std::string, verdict> verdicts =
      {{"granted", verdict::granted}, {"full", verdict::full},
       {"first", verdict::first},     {"behind", verdict::behind},
       {"none", verdict::none},       {"done", verdict::done},
       {"gone", verdict::gone},       {"no_parent", verdict::no_parent},
       {"failed", verdict::failed},   {"watched", verdict::watched}};
  static permit_recipe::step unasked(permit_recipe& r, const std::string& word, time_point now,
                                     const claims::timing& t) {
    if (word == "on_blocker") return r.on_blocker(t);
    if (word == "on_leases") return r.on_leases(t);
    if (word == "on_queue") return r.on_queue();
    if (word == "on_own_end") return r.on_own_lease(true);
    if (word == "on_own_change") return r.on_own_lease(false);
    if (word == "on_peek") return r.check_waiters(now, t);
    return permit_recipe::on_attached();
  }
};

using played_permits = played_recipe<permit_recipe, permit_words>;

const std::string returned = "acquire full done ";
const std::string at_head = returned + "first full ";

TEST(zookeeper_permit_recipe, permits_that_are_free_are_had_by_the_first_request) {
  expect_rows<played_permits>({{"acquire", "owner take"},
                               {"attempt", "owner take wake:1000"},
                               {"acquire granted", "granted wake:100"},
                               {"acquire late", "nothing"},
                               {"acquire no_parent", "take"},
                               {"acquire no_parent granted", "granted wake:100"},
                               {"acquire failed", because("refused", errc::refused)},
                               {"acquire failed!", because("orphan refused", errc::refused)}});
}

TEST(zookeeper_permit_recipe, leases_that_hold_nothing_are_returned_before_the_line_is_entered) {
  expect_rows<played_permits>({{"acquire full", "remove"},
                               {"acquire full done", "owner join"},
                               {"acquire full gone", "owner join"},
                               {"acquire full throttled", "wake:50"},
                               {"acquire full throttled wake", "remove"},
                               {"acquire full failed", because("orphan refused", errc::refused)},
                               {"acquire full cut", "remove"},
                               {"acquire gone", "remove"},
                               {"acquire gone gone", "owner take"},
                               {"attempt full", "remove wake:1000"},
                               {"attempt full done", because("refused", errc::timed_out)},
                               {"attempt full wake", because("orphan refused", errc::timed_out)}});
}

TEST(zookeeper_permit_recipe, the_first_in_the_queue_makes_leases_and_waits_for_room) {
  expect_rows<played_permits>(
      {{returned + "first", "lease"},
       {returned + "behind", "nothing"},
       {returned + "behind on_blocker", "look"},
       {returned + "behind on_leases", "nothing"},
       {returned + "behind on_blocker behind", "nothing"},
       {returned + "behind on_blocker first", "lease"},
       {returned + "no_parent", "join"},
       {returned + "gone", "owner join"},
       {returned + "first granted+", "granted leave_queue wake:100"},
       {returned + "first no_parent", "lease"},
       {at_head, "nothing"},
       {at_head + "on_blocker", "nothing"},
       {at_head + "on_leases", "count"},
       {at_head + "on_leases full", "nothing"},
       {at_head + "on_leases granted", "granted leave_queue wake:100"},
       {at_head + "on_leases gone", "remove"},
       {at_head + "on_leases failed!", because("orphan refused", errc::refused)}});
}

TEST(zookeeper_permit_recipe, who_had_permits_that_others_wanted_goes_into_the_line_at_once) {
  const std::string wanted = returned + "first granted+ release done ";
  expect_rows<played_permits>(
      {{wanted + "acquire", "owner join"},
       {wanted + "attempt", "owner take wake:1000"},
       {wanted + "acquire first granted release done acquire", "owner take"},
       {"acquire granted on_peek watched+ release done acquire", "owner join"},
       {"acquire granted release done acquire", "owner take"}});
}

TEST(zookeeper_permit_recipe, what_was_cut_is_found_again_or_returned) {
  expect_rows<played_permits>({{"acquire cut", "remove"},
                               {"acquire cut done", "owner take"},
                               {"acquire cut_of_old", "nothing"},
                               {"attempt cut", "remove wake:1000"},
                               {"attempt cut gone", "owner take wake:1000"},
                               {returned + "cut", "find"},
                               {returned + "cut first", "lease"},
                               {returned + "cut gone", "owner join"},
                               {returned + "first cut", "recount"},
                               {returned + "first cut granted", "granted leave_queue wake:100"},
                               {returned + "first cut none", "lease"},
                               {returned + "first cut gone", "remove"},
                               {at_head + "cut", "nothing"},
                               {at_head + "on_leases cut", "recount"}});
}

TEST(zookeeper_permit_recipe, another_total_is_told_once_nothing_is_left) {
  for (const std::string before : {"acquire ", "attempt "})
    expect_rows<played_permits>({{before + "mismatch", "remove wake:1000"},
                                 {before + "mismatch done", because("refused", errc::mismatch)}});
  expect_rows<played_permits>({{at_head + "on_leases mismatch", "remove wake:1000"}});
}

TEST(zookeeper_permit_recipe, a_claim_at_the_limit_of_its_sequence_is_refused_once_removed) {
  for (const std::string& before :
       std::vector<std::string>{"acquire ", returned, returned + "first ", at_head + "on_leases "})
    expect_rows<played_permits>({{before + "exhausted", "remove wake:1000"},
                                 {before + "exhausted done", because("refused", errc::exhausted)}});
}

TEST(zookeeper_permit_recipe, a_holder_hears_of_the_line_and_of_the_end_of_its_leases) {
  const std::string held = "acquire granted ";
  expect_rows<played_permits>(
      {{held + "wake", "watch_own"},
       {held + "wake watched", "nothing"},
       {held + "wake gone", because("orphan lost", errc::not_held)},
       {held + "wake cut", "wake:100"},
       {held + "on_own_end", because("orphan lost", errc::not_held)},
       {held + "on_own_change", "watch_own"},
       {held + "wake watched?", "asked"},
       {held + "wake watched? on_own_change watched?", "nothing"},
       {held + "wake watched? release done acquire granted wake watched?", "asked"},
       {held + "wake watched on_own_change gone", because("orphan lost", errc::not_held)},
       {held + "on_peek", "check_waiters"},
       {held + "on_peek watched", "nothing"},
       {held + "on_peek watched+", "wanted"},
       {held + "on_peek cut", "check_waiters"},
       {held + "on_queue", "check_waiters"},
       {held + "on_queue watched+ on_queue", "nothing"},
       {"acquire granted+ on_peek", "nothing"},
       {held + "session_lost", because("lost", errc::timed_out)},
       {held + "session_lost release", because("ended", errc::not_held)},
       {held + "deadline", "extended"}});
}

TEST(zookeeper_permit_recipe, a_wait_that_ends_removes_all_its_nodes) {
  expect_rows<played_permits>(
      {{"acquire cancel", "remove wake:1000"},
       {at_head + "cancel", "remove wake:1000"},
       {at_head + "cancel done", "ended"},
       {returned + "behind cancel", "remove wake:1000"},
       {returned + "behind give_up", because("orphan refused", errc::closed)},
       {at_head + "session_lost", "owner take"},
       {"acquire granted release", "remove wake:1000"},
       {"acquire granted release done", "ended"},
       {"acquire granted release gone", because("ended", errc::not_held)},
       {"acquire granted release cut gone", "ended"}});
}

}  // namespace
}  // namespace holdfast::zookeeper::session_recipe_tests
