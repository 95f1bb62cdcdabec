// The words for a doubt and a loss, for each lifetime and each state of the store.
#include <gtest/gtest.h>

#include "cohort/loss_text.hpp"

namespace holdfast::detail {
namespace {

using fate = turn::fate;

class words_for_a_loss : public testing::Test {
 protected:
  struct described final : seam::connection {
    seam::connection_status status() override { return known; }
    void diagnose(seam::findings_handler&) override {}
    bool close(base::time_point) override { return true; }
    void forked() noexcept override {}
    seam::connection_status known;
  };
  std::string loss(fate why) { return text_of_loss(why, rules, store); }
  std::string doubt(fate how) { return text_of_doubt(how, rules, store); }

  cohort::lock_rules rules;
  described store;
};

TEST_F(words_for_a_loss, name_what_was_not_confirmed) {
  const std::string lost = "the lease was lost: it expired, because ";
  EXPECT_EQ(loss(fate::ran_out), lost + "no renewal was confirmed in time");
  EXPECT_EQ(doubt(fate::ran_out), "it may soon be lost: no renewal was confirmed in time");
  rules.can.life = seam::lifetime::session;
  EXPECT_EQ(loss(fate::ran_out), lost + "the session was not confirmed in time");
  rules.can.life = seam::lifetime::connection;
  EXPECT_EQ(loss(fate::ran_out), lost + "the connection was not confirmed in time");
}

TEST_F(words_for_a_loss, have_the_trouble_of_the_store_where_it_may_be_the_cause) {
  store.known.trouble = {errc::unavailable, "no server answers"};
  EXPECT_EQ(loss(fate::taken),
            "the lease was lost: the store reports another owner; no server answers");
  EXPECT_EQ(doubt(fate::ran_out),
            "it may soon be lost: no renewal was confirmed in time; no server answers");
  store.known.last_failure = "reset 2 s ago";
  EXPECT_EQ(loss(fate::taken), "the lease was lost: the store reports another owner, last "
                               "connection failure reset 2 s ago");
  EXPECT_EQ(loss(fate::hold_ended), "the lease was lost: its max_hold has ended");
  EXPECT_EQ(doubt(fate::hold_ended), "it will soon be lost: its max_hold ends");
}

TEST_F(words_for_a_loss, are_none_for_what_is_not_lost) {
  store.known.trouble = {errc::unavailable, "no server answers"};
  EXPECT_EQ(loss(fate::held), "");
  EXPECT_EQ(loss(fate::closed), "");
  EXPECT_FALSE(turn::is_loss(fate::held));
  EXPECT_FALSE(turn::is_loss(fate::closed));
  for (const fate f : {fate::ran_out, fate::hold_ended, fate::taken, fate::forgotten})
    EXPECT_TRUE(turn::is_loss(f));
}

}  // namespace
}  // namespace holdfast::detail
