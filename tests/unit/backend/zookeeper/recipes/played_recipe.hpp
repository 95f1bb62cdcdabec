// A claim of a recipe over a session that is played by the names of events.
#pragma once
#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "claim/recipes/session_recipe.hpp"

namespace holdfast::zookeeper::session_recipe_tests {

inline constexpr duration op_timeout = std::chrono::seconds{1};
inline constexpr duration session_timeout = std::chrono::seconds{10};

// Words: {operations, verdicts}, each a map of names, and `unasked(recipe, word, timing)`, which
// calls the recipe's own events.
template <class Recipe, class Words>
class played_recipe {
 public:
  using operation = typename Recipe::operation;
  using step = typename Recipe::step;

  std::string play(const std::string& path) {
    std::istringstream events(path);
    std::string out;
    for (std::string event; events >> event;) out = apply(event);
    return out;
  }

 private:
  std::string apply(const std::string& event) {
    const step s = step_of(event);
    if (s.send != operation{}) {
      sent_ = s.send;
      epoch_ = recipe_.epoch();
    }
    if (s.sleeps) wake_ = base::saturating_add(s.wake, s.spread);
    return text_of(s);
  }
  step step_of(const std::string& word) {
    if (word == "acquire" || word == "attempt") {
      seam::acquire_request r;
      r.one_attempt = word == "attempt";
      return recipe_.acquire(r, now_, t_);
    }
    if (word == "cancel") return recipe_.cancel(now_, t_);
    if (word == "release") return recipe_.release(now_, t_);
    if (word == "cut") return recipe_.on_cut(sent_, epoch_, now_, t_);
    if (word == "cut_of_old") return recipe_.on_cut(sent_, epoch_ - 1, now_, t_);
    if (word == "give_up") return recipe_.give_up(errc::closed);
    if (word == "session_lost") return recipe_.on_session_lost(now_, t_);
    if (word == "deadline") return recipe_.on_deadline(now_ + session_timeout);
    if (word == "doubtful") return recipe_.on_doubtful();
    if (word == "wake") {
      EXPECT_NE(wake_, base::never) << "nothing wakes it";
      now_ = wake_;
      return recipe_.on_wake(now_, t_);
    }
    if (word.starts_with("on_")) return Words::unasked(recipe_, word, now_, t_);
    return recipe_.on(reply_of(word), now_, t_);
  }
  // "+" at the end: others wait. "!": nodes of the claim may be there. "?": somebody asks for it.
  typename Recipe::reply reply_of(std::string word) {
    typename Recipe::reply r;
    r.to = sent_;
    r.epoch = epoch_;
    r.number = 7;
    r.deadline = now_ + session_timeout;
    r.term = session_timeout;
    r.why = word == "mismatch"    ? errc::mismatch
            : word == "exhausted" ? errc::exhausted
                                  : errc::refused;
    if (r.why != errc::refused) word = "failed!";
    if (word == "throttled") {
      r.why = errc::unavailable;
      word = "failed";
    }
    if (word.back() == '?') {
      r.is_revoked = true;
      word.pop_back();
    }
    for (; word.back() == '+' || word.back() == '!'; word.pop_back())
      (word.back() == '+' ? r.others_wait : r.is_there) = true;
    if (word == "late") {
      --r.epoch;
      word = "granted";
    }
    const auto found = Words::verdicts.find(word);
    EXPECT_NE(found, Words::verdicts.end()) << "no such event: " << word;
    if (found != Words::verdicts.end()) r.what = found->second;
    return r;
  }
  std::string text_of(const step& s) const {
    static const std::map<claim_event, const char*> events = {{claim_event::granted, "granted"},
                                                              {claim_event::refused, "refused"},
                                                              {claim_event::extended, "extended"},
                                                              {claim_event::doubtful, "doubtful"},
                                                              {claim_event::wanted, "wanted"},
                                                              {claim_event::revocation, "asked"},
                                                              {claim_event::lost, "lost"},
                                                              {claim_event::ended, "ended"}};
    std::string out;
    const auto add = [&](const std::string& word) { out.append(out.empty() ? "" : " ") += word; };
    if (s.orphan) add("orphan");
    if (s.new_owner) add("owner");
    if (s.event != claim_event::none) {
      add(events.at(s.event));
      if (s.why != errc{}) out += "(" + make_error_code(s.why).message() + ")";
    }
    if (s.send != operation{}) add(Words::operations.at(s.send));
    if (s.sleeps && s.wake != base::never) {
      using std::chrono::milliseconds;
      add("wake:" +
          std::to_string(std::chrono::duration_cast<milliseconds>(s.wake - now_).count()));
    }
    return out.empty() ? "nothing" : out;
  }

  const claims::timing t_{.op_timeout = op_timeout};
  Recipe recipe_;
  time_point now_ = time_point(std::chrono::hours{1});
  operation sent_{};
  std::uint32_t epoch_ = 0;
  time_point wake_ = base::never;
};

struct played_row {
  std::string path, then;
};

template <class Played>
void expect_rows(std::initializer_list<played_row> rows) {
  for (const played_row& r : rows) EXPECT_EQ(Played().play(r.path), r.then) << r.path;
}

inline std::string because(const char* before, errc why, const char* after = "") {
  return before + ("(" + make_error_code(why).message() + ")") + after;
}

}  // namespace holdfast::zookeeper::session_recipe_tests
