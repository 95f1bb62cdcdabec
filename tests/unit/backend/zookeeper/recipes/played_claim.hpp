// A claim of the sequential recipe that is played by the names of events.
#pragma once
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <utility>

#include "backend/zookeeper/recipes/sequential.hpp"

namespace holdfast::zookeeper::recipe_tests {

using operation = sequential_operation;
using verdict = sequential_reply::verdict;
using state = sequential_recipe::state;

inline constexpr duration op_timeout = std::chrono::seconds{1};
inline constexpr duration session_timeout = std::chrono::seconds{10};
inline constexpr std::int64_t own_number = 7;

inline const char* name_of(state s) {
  constexpr const char* names[] = {"idle",    "creating", "resolving", "listing",   "watching",
                                   "waiting", "held",     "lost",      "releasing", "withdrawing"};
  return names[static_cast<int>(s)];
}

inline const char* name_of(operation o) {
  constexpr const char* names[] = {"none",  "create",    "join",          "list",      "find",
                                   "watch", "watch_own", "check_waiters", "downgrade", "remove"};
  return names[static_cast<int>(o)];
}

inline std::string text_of(errc why) {
  return why == errc{} ? "" : "(" + make_error_code(why).message() + ")";
}

// A wake-up comes at the end of its spread.
class played_claim {
 public:
  std::string play(const std::string& path) {
    std::istringstream events(path);
    std::string out;
    for (std::string event; events >> event;) out = apply(event);
    return out;
  }
  const sequential_recipe& recipe() const { return recipe_; }
  time_point now = time_point(std::chrono::hours{1});

 private:
  std::string apply(const std::string& event) {
    const sequential_recipe::step s = step_of(event);
    if (s.send != operation::none) sent_ = {s.send, recipe_.epoch()};
    if (s.sleeps) wake_ = base::saturating_add(s.wake, s.spread);
    return text_of(s);
  }

  sequential_recipe::step step_of(const std::string& event) {
    const auto number = event.find_first_of("0123456789");
    const std::string word = event.substr(0, number);
    if (word == "acquire" || word == "attempt") {
      seam::acquire_request r;
      r.one_attempt = word == "attempt";
      return recipe_.acquire(r, now, t_);
    }
    if (word == "cancel") return recipe_.cancel(now, t_);
    if (word == "renew") return sequential_recipe::renew(op_timeout, now, t_);
    if (word == "release") return recipe_.release(now, t_);
    if (word == "downgrade") return recipe_.downgrade(now, t_);
    if (word == "peek") return recipe_.check_waiters(now, t_);
    if (word == "cut") return recipe_.on_cut(sent_.what, sent_.epoch, now, t_);
    if (word == "cut_of_old") return recipe_.on_cut(sent_.what, sent_.epoch - 1, now, t_);
    if (word == "give_up") return recipe_.give_up(errc::closed);
    if (word == "pass") {
      now += std::chrono::milliseconds(std::stoll(event.substr(number)));
      return {};
    }
    if (word == "wake") {
      EXPECT_NE(wake_, base::never) << "nothing wakes it";
      now = wake_;
      return recipe_.on_wake(now, t_);
    }
    if (word.starts_with("on_")) return step_of_watch(word);
    return recipe_.on(reply_of(word), now, t_);
  }

  // What comes unasked: of a watch, or of the session.
  sequential_recipe::step step_of_watch(const std::string& word) {
    const time_point deadline = now + session_timeout;
    constexpr std::pair<const char*, what_is_ahead> ahead[] = {{"on_unknown",
                                                                what_is_ahead::unknown},
                                                               {"on_fewer", what_is_ahead::watched},
                                                               {"on_nothing",
                                                                what_is_ahead::nothing}};
    for (const auto& [name, left] : ahead)
      if (word == name) return recipe_.on_ahead(left, deadline, session_timeout, now, t_);
    if (word == "on_own_end") return recipe_.on_own_node(true, now, t_);
    if (word == "on_own_change") return recipe_.on_own_node(false, now, t_);
    if (word == "on_children") return recipe_.on_children();
    if (word == "on_attached") return recipe_.on_attached();
    if (word == "on_session_lost") return recipe_.on_session_lost(now, t_);
    if (word == "on_deadline") return recipe_.on_deadline(deadline);
    if (word == "on_doubtful") return recipe_.on_doubtful();
    ADD_FAILURE() << "no such event: " << word;
    return {};
  }

  // "known": behind, and all of it is watched already. "alone": watched, and all ahead has ended;
  // "outdated": watched, and what is ahead is not known; "exhausted": failed. At the end: "+",
  // others stand behind; "!", the own node asks for the lock.
  sequential_reply reply_of(std::string word) {
    sequential_reply r;
    r.to = sent_.what;
    r.epoch = sent_.epoch;
    r.number = own_number;
    r.deadline = now + session_timeout;
    r.term = session_timeout;
    r.why = errc::refused;
    for (; word.back() == '+' || word.back() == '!'; word.pop_back())
      (word.back() == '+' ? r.others_wait : r.is_revoked) = true;
    if (word == "throttled" || word == "exhausted") {
      r.why = word == "throttled" ? errc::unavailable : errc::exhausted;
      word = "failed";
    }
    if (word == "late") {
      --r.epoch;
      word = "granted";
    }
    r.is_watched = word == "known";
    if (word == "alone") r.ahead = what_is_ahead::nothing;
    if (word == "outdated") r.ahead = what_is_ahead::unknown;
    constexpr std::pair<const char*, verdict> words[] =
        {{"granted", verdict::granted},     {"created", verdict::created},
         {"no_parent", verdict::no_parent}, {"behind", verdict::behind},
         {"known", verdict::behind},        {"alone", verdict::watched},
         {"outdated", verdict::watched},    {"watched", verdict::watched},
         {"gone", verdict::gone},           {"done", verdict::done},
         {"failed", verdict::failed}};
    for (const auto& [name, what] : words)
      if (word == name) return r.what = what, r;
    ADD_FAILURE() << "no such event: " << word;
    return r;
  }

  std::string text_of(const sequential_recipe::step& s) const {
    std::string out = name_of(recipe_.now_in());
    if (s.orphan) out += " orphan";
    if (s.new_owner) out += " owner";
    constexpr std::pair<claim_event, const char*> events[] = {{claim_event::granted, "granted"},
                                                              {claim_event::refused, "refused"},
                                                              {claim_event::extended, "extended"},
                                                              {claim_event::doubtful, "doubtful"},
                                                              {claim_event::wanted, "wanted"},
                                                              {claim_event::revocation, "asked"},
                                                              {claim_event::lost, "lost"},
                                                              {claim_event::ended, "ended"}};
    for (const auto& [e, name] : events)
      if (base::has(s.event, e)) out += std::string(" ") + name + recipe_tests::text_of(s.why);
    if (s.send != operation::none) out += std::string(" ") + name_of(s.send);
    if (s.sleeps) out += " sleep:" + text_of(s.wake);
    if (s.sleeps && s.spread > duration::zero()) out += "+" + text_of(now + s.spread);
    return out;
  }
  std::string text_of(time_point t) const {
    using std::chrono::milliseconds;
    if (t == base::never) return "never";
    return std::to_string(std::chrono::duration_cast<milliseconds>(t - now).count());
  }

  const claims::timing t_{.op_timeout = op_timeout};
  sequential_recipe recipe_;
  struct {
    operation what;
    std::uint32_t epoch;
  } sent_{};
  time_point wake_ = base::never;
};

}  // namespace holdfast::zookeeper::recipe_tests
