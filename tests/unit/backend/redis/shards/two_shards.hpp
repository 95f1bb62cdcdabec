// Two shards in memory, and a lock that moves from one to the other.
#pragma once
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "backend/redis/shards/moving_claim.hpp"
#include "tests/unit/backend/redis/shards/bare_shard.hpp"

namespace holdfast::redis {

// One lock at one shard: a holder, waiters in order, and a counter. Renewals are confirmed while
// `answers` is true, and releases while `ends` is; a cancelled wait ends with `end_of_cancelled`.
class shard_model final : public bare_shard {
 public:
  explicit shard_model(std::int64_t first) : counter(first) {}

  struct claim final : seam::claim {
    claim(shard_model& m, seam::claim_sink& s) : home(m), sink(s) {}
    void acquire(const seam::acquire_request& r) override {
      ++home.acquires;
      ttl = r.ttl;
      note = r.note;
      if (!home.holder) return home.grant_to(*this);
      if (r.one_attempt) return sink.on_refused({errc::timed_out, {}});
      home.waiting.push_back(this);
    }
    void cancel() override {
      std::erase(home.waiting, this);
      sink.on_ended(home.end_of_cancelled);
    }
    void renew(base::duration how_long, std::uint32_t ticket) override {
      if (!home.answers) return;
      deadline = home.now + how_long;
      sink.on_extended(deadline, ticket);
    }
    void downgrade() override { ++home.further_verbs; }
    void check_waiters() override { ++home.further_verbs; }
    bool others_wait() override { return !home.waiting.empty(); }
    void release(const seam::successor*) override {
      ++home.releases;
      if (home.holder == this) home.pass_on();
      if (home.ends) end();
    }
    void end() {
      const bool has_expired = deadline <= home.now;
      sink.on_ended(has_expired ? base::failure{errc::not_held, {}} : base::failure());
    }
    std::string owner() const override { return "owner"; }

    shard_model& home;
    seam::claim_sink& sink;
    std::string note;
    base::duration ttl{};
    base::time_point deadline{};
  };

  std::unique_ptr<seam::claim> open(std::string_view, seam::claim_sink& s) override {
    return std::make_unique<claim>(*this, s);
  }

  void grant_to(claim& c) {
    holder = &c;
    seam::grant g = template_of_grants;
    g.number = ++counter;
    g.deadline = c.deadline = now + c.ttl;
    g.received_at = now;
    c.sink.on_granted(g);
  }
  void pass_on() {
    holder = nullptr;
    if (waiting.empty()) return;
    claim& next = *waiting.front();
    waiting.pop_front();
    grant_to(next);
  }

  std::int64_t counter;
  bool answers = true, raises = true, ends = true;
  base::failure end_of_cancelled;
  seam::grant template_of_grants;
  int acquires = 0, releases = 0, further_verbs = 0;  // that were called
  base::time_point now{};
  claim* holder = nullptr;
  std::deque<claim*> waiting;

 private:
  void raise(std::string_view, std::int64_t least, seam::decision_handler& to) override {
    if (!raises) return to.on_failed({errc::unavailable, "no answer"});
    counter = std::max(counter, least);
    to.on_result(true);
  }
};

// The reports of the claim, as words.
struct recorded_sink final : seam::claim_sink {
  void on_granted(const seam::grant& g) override {
    granted = g;
    log += "granted ";
  }
  void on_refused(base::failure why) override {
    log += why.code == errc::timed_out ? "busy " : "refused ";
  }
  void on_extended(base::time_point until, std::uint32_t ticket) override {
    deadline = until;
    log += "extended" + std::to_string(ticket) + ' ';
  }
  void on_doubtful() override { log += "doubtful "; }
  void on_lost(std::error_code) override { log += "lost "; }
  void on_contended() override { log += "contended "; }
  void on_ended(base::failure why) override {
    log += why.code == errc::not_held          ? "not-held "
           : why.code == errc::outcome_unknown ? "unknown "
                                               : "ended ";
  }

  seam::grant granted;
  base::time_point deadline{};
  std::string log;
};

// The clocks of the shards are the test's.
class two_shards {
 public:
  shard_model former{100}, present{500};
  moving_claims moving;

  struct mover {
    static constexpr const char* note = "nightly job of the warehouse";
    explicit mover(two_shards& s)
        : claim("x", {&s.former, &s.former}, {&s.present, &s.present}, sink, s.moving) {}
    void acquire(bool one_attempt = false) {
      const std::string kept_for_the_call = note;
      seam::acquire_request r;
      r.ttl = std::chrono::seconds{10};
      r.note = kept_for_the_call;
      r.one_attempt = one_attempt;
      claim.acquire(r);
    }
    recorded_sink sink;
    moving_claim claim;
  };
  // A client that knows one shard only.
  struct other {
    explicit other(shard_model& s) : claim(s.open("x", sink)) {}
    void acquire() { claim->acquire({.ttl = std::chrono::seconds{10}}); }
    void release() { claim->release(nullptr); }
    recorded_sink sink;
    std::unique_ptr<seam::claim> claim;
  };

  void pass(base::duration d) {
    former.now += d;
    present.now += d;
  }
};

}  // namespace holdfast::redis
