// A retrying claim that is played by the names of events.
#pragma once
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <utility>

#include "claim/recipes/retrying.hpp"

namespace holdfast::claims::recipe_tests {

using operation = retrying_operation;
using verdict = retrying_reply::verdict;
using state = retrying_recipe::state;

inline constexpr duration ttl = std::chrono::seconds{10}, op_timeout = std::chrono::seconds{1};

inline const char* name_of(state s) {
  constexpr const char* names[] = {"idle", "trying", "resolving", "subscribing", "waiting",
                                   "held", "lost",   "releasing", "withdrawing"};
  return names[static_cast<int>(s)];
}

inline const char* name_of(operation o) {
  constexpr const char* names[] = {"none",  "try_lock",  "resolve", "subscribe",
                                   "renew", "downgrade", "release", "withdraw"};
  return names[static_cast<int>(o)];
}

inline std::string text_of(errc why) {
  return why == errc{} ? "" : "(" + make_error_code(why).message() + ")";
}

inline std::string text_of(time_point t, time_point now) {
  return t == base::never
             ? "never"
             : std::to_string(
                   std::chrono::duration_cast<std::chrono::milliseconds>(t - now).count());
}

// A claim that is played by the names of events. A wake-up comes at the end of its spread.
class played_claim {
 public:
  explicit played_claim(const retrying_recipe::rules& r) : recipe_(r) {}

  std::string play(const std::string& path) {
    std::istringstream events(path);
    std::string out;
    for (std::string event; events >> event;) out = apply(event);
    return out;
  }
  const retrying_recipe& recipe() const { return recipe_; }
  time_point now = time_point(std::chrono::hours{1});

 private:
  std::string apply(const std::string& event) {
    const retrying_recipe::step s = step_of(event);
    if (s.send != operation::none) {
      sent_ = {s.send, recipe_.epoch(), now};
    }
    if (s.sleeps) wake_ = base::saturating_add(s.wake, s.spread);
    return text_of(s);
  }
  retrying_recipe::step step_of(const std::string& event) {
    const auto number = event.find_first_of("0123456789");
    const duration given = std::chrono::milliseconds(
        number == std::string::npos ? 0 : std::stoll(event.substr(number)));
    const std::string word = event.substr(0, number);
    if (word == "acquire" || word == "attempt") {
      seam::acquire_request r;
      r.one_attempt = word == "attempt";
      r.ttl = ttl;
      return recipe_.acquire(r, now, t_);
    }
    if (word == "cancel") return recipe_.cancel(now, t_);
    if (word == "renew") return recipe_.renew(ttl, now, t_);
    if (word == "release") return recipe_.release(now, t_);
    if (word == "downgrade") return recipe_.downgrade(now, t_);
    if (word == "message") return recipe_.on_message(now, t_);
    if (word == "resubscribed") return recipe_.on_subscribed(now, t_);
    if (word == "unsubscribed") return recipe_.on_unsubscribed(now);
    if (word == "stale_cut") return recipe_.on_cut(sent_.epoch - 1, now, t_);
    if (word == "cut") return recipe_.on_cut(sent_.epoch, now, t_);
    if (word == "give_up") return recipe_.give_up(errc::closed);
    if (word == "pass") return now += given, retrying_recipe::step{};
    if (word == "wake") {
      EXPECT_NE(wake_, base::never) << "nothing wakes it";
      now = wake_;
      return recipe_.on_wake(now, t_);
    }
    return recipe_.on(reply_of(word, given), now, t_);
  }
  // "busy", or "busy300" with the rest of the lease; "~" at the end: an older request may arrive.
  retrying_reply reply_of(std::string word, duration rest) {
    retrying_reply r;
    r.to = sent_.what;
    r.epoch = sent_.epoch;
    r.sent = sent_.at;
    r.ttl = ttl;
    r.number = 7;
    if (word.back() == '~') {
      r.final = false;
      word.pop_back();
    }
    if (rest > duration::zero()) r.rest = rest;
    if (word == "late") {
      --r.epoch;
      word = "granted";
    }
    if (word == "told") {
      r.notified_others = true;
      word = "done";
    }
    if (word == "polled") {
      r.peers_poll = true;
      word = "done";
    }
    if (word == "left") {
      r.left = true;
      word = "failed";
    }
    constexpr std::pair<const char*, verdict> words[] = {{"granted", verdict::granted},
                                                         {"busy", verdict::busy},
                                                         {"next", verdict::next_step},
                                                         {"subscribed", verdict::subscribed},
                                                         {"done", verdict::done},
                                                         {"not_owner", verdict::not_owner},
                                                         {"failed", verdict::failed},
                                                         {"not_now", verdict::not_now}};
    for (const auto& [name, what] : words)
      if (word == name) return r.what = what, r;
    ADD_FAILURE() << "no such event: " << word;
    return r;
  }
  std::string text_of(const retrying_recipe::step& s) const {
    std::string out = name_of(recipe_.now_in());
    if (s.orphan) out += " orphan";
    if (s.new_owner) out += " owner";
    constexpr std::pair<claim_event, const char*> events[] = {{claim_event::granted, "granted"},
                                                              {claim_event::refused, "refused"},
                                                              {claim_event::extended, "extended"},
                                                              {claim_event::lost, "lost"},
                                                              {claim_event::ended, "ended"}};
    for (const auto& [e, name] : events)
      if (s.event == e) out += std::string(" ") + name + recipe_tests::text_of(s.why);
    if (s.send != operation::none) out += std::string(" ") + name_of(s.send);
    if (s.sleeps) out += " sleep:" + recipe_tests::text_of(s.wake, now);
    if (s.sleeps && s.spread > duration::zero())
      out += "+" + recipe_tests::text_of(time_point(s.spread), time_point());
    return out;
  }

  const timing t_{.op_timeout = op_timeout};
  retrying_recipe recipe_;
  struct {
    operation what;
    std::uint32_t epoch;
    time_point at;
  } sent_{};
  time_point wake_ = base::never;
};

}  // namespace holdfast::claims::recipe_tests
