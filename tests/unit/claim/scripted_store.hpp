// A store and a recipe that do as a test says, and write down what the shell has them do.
#pragma once
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "claim/store_claim.hpp"
#include "testkit/manual_environment.hpp"

namespace holdfast::claims {

struct scripted {
  enum class operation : unsigned char { none, take, give };
  struct reply {
    std::uint32_t ticket = 0;
    claim_event event = claim_event::none;
    errc why{};
    base::time_point deadline{};
  };
  using step = effects<operation>;

  // Each verb takes the next of `steps`; a reply is its own effects.
  struct recipe {
    using operation = scripted::operation;
    using reply = scripted::reply;
    std::deque<step> steps;
    seam::grant held;
    bool doubted = false;

    step next() noexcept {
      if (steps.empty()) return {};
      const step out = steps.front();
      steps.pop_front();
      return out;
    }
    step acquire(const seam::acquire_request&, time_point, const timing&) noexcept {
      return next();
    }
    step succeed(const seam::acquire_request&, time_point, const timing&) noexcept {
      return next();
    }
    step cancel(time_point, const timing&) noexcept { return next(); }
    step renew(duration, time_point, const timing&) noexcept { return next(); }
    step downgrade(time_point, const timing&) noexcept { return next(); }
    step release(time_point, const timing&) noexcept { return next(); }
    step on_wake(time_point, const timing&) noexcept { return next(); }
    step on(const reply& r, time_point, const timing&) noexcept {
      held.deadline = r.deadline;
      step out;
      out.event = r.event;
      out.why = r.why;
      return out;
    }
    step give_up(errc why) noexcept {
      step out;
      out.orphan = true;
      out.event = claim_event::refused;
      out.why = why;
      return out;
    }
    std::uint32_t epoch() const noexcept { return 0; }
    bool waits() const noexcept { return false; }
    bool is_idle() const noexcept { return true; }
    bool is_doubtful() const noexcept { return doubted; }
    seam::grant granted() const noexcept {
      seam::grant out;
      out.deadline = held.deadline;
      return out;
    }
    bool others_wait() const noexcept { return held.others_wait; }
  };

  struct store;
  struct record {};
  struct request_details {
    std::uint32_t permits = 0;
    void keep(const seam::acquire_request& r) { permits = r.permits; }
  };
  struct protocol {
    using recipe = scripted::recipe;
    using store = scripted::store;
    using request_details = scripted::request_details;
    using record = scripted::record;
    static constexpr bool extends_unasked = true;
  };
  using claim = store_claim<protocol>;

  struct store {
    std::string log;  // what the shell did, one word each
    std::deque<reply> answers;
    std::deque<step> steps;  // of the next claim's recipe
    std::vector<std::pair<claim*, reply>> outbox;
    std::optional<verb> refused;
    bool takes_next = false, waiter_is_known = false;
    time_point wakes = base::never;  // of the last sleep
    timing limits;
    testkit::manual_environment clock;
    std::mutex guard, log_guard;

    void note(const std::string& word) {
      const std::lock_guard lock(log_guard);
      log += log.empty() ? word : ' ' + word;
    }
    std::string news() { return std::exchange(log, {}); }

    std::mutex& mutex() noexcept { return guard; }
    base::environment& env() noexcept { return clock; }
    const timing& rules() const noexcept { return limits; }
    bool is_forked() const noexcept { return false; }
    recipe new_recipe() { return {std::exchange(steps, {}), {}, false}; }
    time_point clock_for_release(const claim&) { return clock.now(); }
    void add(claim&, std::string_view lock) { note("add:" + std::string(lock)); }
    void remove(claim&) { note("remove"); }
    errc refuses(const claim&, verb v) const { return v == refused ? errc::closed : errc{}; }
    std::optional<reply> submit(claim&, operation op, time_point, event_queue&) {
      note(op == operation::take ? "take" : "give");
      if (answers.empty()) return {};
      const reply out = answers.front();
      answers.pop_front();
      return out;
    }
    void deliver(time_point now, event_queue& events) {
      note("deliver");
      for (auto& [to, r] : std::exchange(outbox, {})) to->on_reply(r, {}, now, events);
    }
    void renew_owner(claim&) { note("owner"); }
    void withdraw_orphan(claim&, time_point, event_queue&) { note("orphan"); }
    void wake_at(claim&, time_point t) {
      wakes = t;
      note(t == base::never ? "sleep:never" : "sleep");
    }
    void after_step(claim&, time_point) { note("after"); }
    bool is_release_urgent(const claim&) const noexcept { return waiter_is_known; }
    void request_flush(urgency how) { note(how == urgency::now ? "flush:now" : "flush"); }
    bool takes_successor(claim&, operation op, const seam::acquire_request& next) const {
      return takes_next && op == operation::give && !next.one_attempt;
    }
    void submit_with_successor(claim&, claim&, time_point) { note("give+take"); }
    std::string text_of_owner(const claim&) { return "owner"; }
    std::string reason(const claim&, errc) { return "a fixed sentence"; }
  };
};

struct sink final : seam::claim_sink {
  std::string heard;
  seam::grant grant;
  base::failure failure;
  std::error_code loss;
  base::time_point deadline{};
  std::uint32_t ticket = 0;

  void on_granted(const seam::grant& g) override { grant = g, heard += 'g'; }
  void on_refused(base::failure f) override { failure = std::move(f), heard += 'r'; }
  void on_extended(base::time_point d, std::uint32_t t) override {
    deadline = d;
    ticket = t;
    heard += 'x';
  }
  void on_doubtful() override { heard += 'd'; }
  void on_lost(std::error_code why) override { loss = why, heard += 'l'; }
  void on_contended() override { heard += 'w'; }
  void on_revocation_requested() override { heard += 'v'; }
  void on_ended(base::failure f) override { failure = std::move(f), heard += 'e'; }
};

}  // namespace holdfast::claims
