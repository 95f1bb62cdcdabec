// The state table of recipes/single_node.hpp, row by row.
#include "backend/zookeeper/recipes/single_node.hpp"

#include "tests/unit/backend/zookeeper/recipes/played_recipe.hpp"

namespace holdfast::zookeeper::session_recipe_tests {
namespace {

struct single_node_words {
  using operation = single_node_operation;
  using verdict = single_node_verdict;
  static inline const std::map<operation, std::string> operations = {{operation::create, "create"},
                                                                     {operation::find, "find"},
                                                                     {operation::remove, "remove"}};
  static inline const std::map<std::string, verdict> verdicts = {{"granted", verdict::granted},
                                                                 {"busy", verdict::busy},
                                                                 {"done", verdict::done},
                                                                 {"gone", verdict::gone},
                                                                 {"failed", verdict::failed}};
  static single_node_recipe::step unasked(single_node_recipe& r, const std::string& word,
                                          time_point now, const claims::timing& t) {
    if (word == "on_attached") return single_node_recipe::on_attached();
    return r.on_node(word == "on_end", now, t);
  }
};

using played_node = played_recipe<single_node_recipe, single_node_words>;

TEST(zookeeper_single_node_recipe, the_create_that_succeeds_holds_and_all_others_try_at_its_end) {
  expect_rows<played_node>({{"acquire", "owner create"},
                            {"attempt", "owner create wake:1000"},
                            {"acquire granted", "granted"},
                            {"acquire late", "nothing"},
                            {"acquire busy", "nothing"},
                            {"acquire busy on_end", "create"},
                            {"acquire busy on_change", "create"},
                            {"acquire busy on_end busy on_end granted", "granted"},
                            {"acquire gone", "create"},
                            {"acquire on_end", "nothing"},
                            {"acquire failed", because("refused", errc::refused)},
                            {"acquire failed!", because("orphan refused", errc::refused)}});
}

TEST(zookeeper_single_node_recipe, one_attempt_that_finds_another_leaves_nothing) {
  expect_rows<played_node>({{"attempt busy", because("refused", errc::timed_out)},
                            {"attempt wake", because("orphan refused", errc::unavailable)}});
}

TEST(zookeeper_single_node_recipe, a_create_whose_reply_is_lost_is_looked_for) {
  expect_rows<played_node>({{"acquire cut", "find"},
                            {"acquire cut_of_old", "nothing"},
                            {"acquire cut granted", "granted"},
                            {"acquire cut busy", "nothing"},
                            {"acquire cut busy on_end", "create"},
                            {"acquire cut gone", "create"},
                            {"acquire cut cut", "find"},
                            {"acquire busy cut", "nothing"},
                            {"acquire busy on_end cut", "find"}});
}

TEST(zookeeper_single_node_recipe, a_holder_whose_node_ends_has_lost_the_lock) {
  const std::string held = "acquire granted ";
  expect_rows<played_node>({{held + "on_end", because("orphan lost", errc::not_held)},
                            {held + "on_end release", because("ended", errc::not_held)},
                            {held + "on_change", "find"},
                            {held + "on_change granted", "nothing"},
                            {held + "on_change busy", because("orphan lost", errc::not_held)},
                            {held + "on_change gone", because("orphan lost", errc::not_held)},
                            {held + "on_change cut", "find"},
                            {held + "deadline", "extended"},
                            {held + "doubtful", "doubtful"},
                            {held + "session_lost", because("lost", errc::timed_out)},
                            {held + "on_attached", "nothing"}});
}

TEST(zookeeper_single_node_recipe, a_removal_is_repeated_until_it_is_answered) {
  const std::string left = "acquire granted release";
  expect_rows<played_node>({{left, "remove wake:1000"},
                            {left + " done", "ended"},
                            {left + " gone", because("ended", errc::not_held)},
                            {left + " cut", "remove"},
                            {left + " cut gone", "ended"},
                            {left + " throttled", "wake:50"},
                            {left + " throttled wake", "remove wake:950"},
                            {left + " throttled wake throttled", "wake:100"},
                            {left + " failed", because("orphan ended", errc::refused)},
                            {left + " session_lost", because("ended", errc::outcome_unknown)},
                            {left + " wake", because("orphan ended", errc::outcome_unknown)}});
}

TEST(zookeeper_single_node_recipe, a_wait_that_ends_removes_what_it_may_have_made) {
  expect_rows<played_node>({{"acquire cancel", "remove wake:1000"},
                            {"acquire cancel gone", "ended"},
                            {"acquire cut cancel", "remove wake:1000"},
                            {"acquire busy cancel", "ended"},
                            {"acquire busy on_end cancel", "remove wake:1000"},
                            {"acquire give_up", because("orphan refused", errc::closed)},
                            {"acquire busy session_lost", "owner create"}});
}

}  // namespace
}  // namespace holdfast::zookeeper::session_recipe_tests
