#include "backend/redis/shards/moving_claim.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "backend/redis/extensions.hpp"
#include "base/caller_driver.hpp"
#include "base/mutant.hpp"

namespace holdfast::redis {

using base::duration;
using base::failure;
using base::mutant;
using base::planted;
using base::time_point;

// The course of one claim. Verbs, and events of the two shards, come from any thread, and are
// handled one at a time. A verb has reached the shards when it returns. A shard may answer from
// inside a call of a handler: that event is handled after the call. Calls of the sink are collected
// meanwhile, and one thread at a time makes them, in order.
//
// The order of the mutexes: handler_mutex_ of one claim, then that of a shard or queue_mutex_. A
// thread that handles an event calls verbs of the shards with handler_mutex_ locked. A shard has
// unlocked its own mutex when it calls a handler, and inside a verb it calls the handlers of the
// claim of that verb only. So no thread waits for another claim's handler_mutex_ while it has one,
// and claims that move in opposite directions cannot deadlock. The sink is called with none locked.
//
//   state      | entered by              | left by
//   -----------+-------------------------+--------------------------------------------------------
//   idle       | the last answer         | acquire
//   at_former  | acquire, begin_again    | the grant of the former shard, a refusal, the end of a
//              |                         | cancelled request
//   at_present | the former grant        | the same of the present shard
//   raising    | both grants             | the answer of the counter
//   held       | the answer of the       | release
//              | counter, or both grants |
//   leaving    | release, or any failure | the ends of both shards
class moving_claim::course final : public std::enable_shared_from_this<course> {
 public:
  course(std::string_view name, const place& former, const place& present, seam::claim_sink& sink,
         moving_claims& all)
      : name_(name), sink_(sink), all_(all), former_(*this, former), present_(*this, present) {
    former_.claim = former.locks->open(name, former_);
    present_.claim = present.locks->open(name, present_);
  }

  void close() noexcept {
    former_.claim.reset();
    present_.claim.reset();
  }

  void acquire(const seam::acquire_request& r) {
    post([this, r, note = std::string(r.note)] {
      request_ = r;
      note_ = note;
      request_.note = note_;
      is_cancelled_ = false;
      begin();
    });
  }
  void cancel() {
    post([this] { on_cancel(); });
  }
  void renew(duration ttl, std::uint32_t ticket) {
    post([this, ttl, ticket] {
      if (state_ == state::held) for_both([&](side& s) { s.claim->renew(ttl, ticket); });
    });
  }
  void downgrade() {
    post([this] { for_both([](side& s) { s.claim->downgrade(); }); });
  }
  void check_waiters() {
    post([this] { for_both([](side& s) { s.claim->check_waiters(); }); });
  }
  void release() {
    post([this] {
      outcome_ = outcome::ended;
      leave();
    });
  }
  bool others_wait() { return former_.claim->others_wait() || present_.claim->others_wait(); }
  std::string owner() const { return present_.claim->owner(); }

 private:
  enum class state : unsigned char { idle, at_former, at_present, raising, held, leaving };
  enum class outcome : unsigned char { ended, withdrawn, refused, begin_again };

  // The claim at one of the two shards.
  struct side final : seam::claim_sink {
    side(course& c, const place& p) noexcept : home(c), at(p) {}
    void attend() const noexcept {
      if (base::caller_driver* const d = at.over->driver()) d->attend();
    }

    void on_granted(const seam::grant& g) override {
      home.post([this, g] { home.on_granted(*this, g); });
    }
    void on_refused(failure why) override {
      home.post([this, why = std::move(why)] { home.on_refused(*this, why); });
    }
    void on_extended(time_point until, std::uint32_t which) override {
      home.post([this, until, which] { home.on_extended(*this, until, which); });
    }
    void on_doubtful() override {
      home.post([this] { home.on_doubtful(); });
    }
    void on_lost(std::error_code why) override {
      home.post([this, why] { home.on_lost(*this, why); });
    }
    void on_contended() override {
      home.post([this] { home.on_contended(); });
    }
    void on_ended(failure why) override {
      home.post([this, why = std::move(why)] { home.on_ended(*this, why); });
    }

    course& home;
    const place at;
    std::unique_ptr<seam::claim> claim;
    seam::grant granted;
    time_point deadline = base::never;
    std::uint32_t ticket = 0;  // of the last renewal that was confirmed
    bool holds = false, is_lost = false, is_released = false;
  };

  // The answer of a counter. It may arrive when its attempt has ended. Deletes itself.
  struct raised final : seam::decision_handler {
    raised(std::shared_ptr<course> c, unsigned of) noexcept : home(std::move(c)), attempt(of) {}
    void on_result(bool is_raised) override {
      on_failed(is_raised ? failure() : failure{errc::refused, "the counter was not raised"});
    }
    void on_failed(failure why) override {
      home->post([c = home.get(), of = attempt, why = std::move(why)] { c->on_raised(of, why); });
      delete this;
    }
    const std::shared_ptr<course> home;
    const unsigned attempt;
  };

  void post(std::function<void()> event) {
    if (all_.is_forked) return;
    const std::shared_ptr<course> keep =
        shared_from_this();  // the last answer may destroy the claim
    moving_claims& all = all_;
    ++all.handling;
    {
      const std::lock_guard guard(queue_mutex_);
      events_.push_back(std::move(event));
    }
    if (handler_ != std::this_thread::get_id()) {
      const std::lock_guard guard(handler_mutex_);
      handler_ = std::this_thread::get_id();
      while (const std::function<void()> next = take_event()) next();
      handler_ = std::thread::id();
    }
    if (handler_ != std::this_thread::get_id()) report_all();
    --all.handling;  // the client may be gone then
  }

  std::function<void()> take_event() {
    const std::lock_guard guard(queue_mutex_);
    if (events_.empty()) return {};
    std::function<void()> next = std::move(events_.front());
    events_.pop_front();
    return next;
  }

  void report(std::function<void(seam::claim_sink&)> call) {
    const std::lock_guard guard(queue_mutex_);
    reports_.push_back(std::move(call));
  }

  void report_all() {
    std::unique_lock guard(queue_mutex_);
    if (std::exchange(is_reporting_, true)) return;
    while (!reports_.empty()) {
      const std::function<void(seam::claim_sink&)> next = std::move(reports_.front());
      reports_.pop_front();
      guard.unlock();
      next(sink_);
      guard.lock();
    }
    is_reporting_ = false;
  }

  template <class Verb>
  void for_both(Verb verb) {
    for (side* const s : {&former_, &present_}) {
      if (!s->holds || s->is_released) continue;
      verb(*s);
      s->attend();
    }
  }

  static void request(side& s, const seam::acquire_request& r) {
    s.is_lost = s.is_released = false;
    s.ticket = 0;
    s.claim->acquire(r);
    s.attend();
  }

  void begin() {
    state_ = state::at_former;
    ++attempt_;
    is_contended_ = false;
    confirmed_ = 0;
    why_ = {};
    if (!planted(mutant::former_shard_omitted)) return request(former_, request_);
    state_ = state::at_present;
    request(present_, request_);
  }

  void on_cancel() {
    is_cancelled_ = true;
    if (state_ != state::at_former && state_ != state::at_present) return;
    side& s = state_ == state::at_former ? former_ : present_;
    s.claim->cancel();
    s.attend();
  }

  void on_granted(side& s, const seam::grant& g) {
    s.holds = true;
    s.granted = g;
    s.deadline = g.deadline;
    if (is_cancelled_) return withdraw();
    if (state_ == state::at_former) {
      state_ = state::at_present;
      seam::acquire_request r = request_;
      r.at = {};
      return request(present_, r);
    }
    if (is_former_gone(g.received_at)) return begin_again();
    raise();
  }

  // The wait for the present shard took longer than the lease at the former one.
  bool is_former_gone(time_point now) const noexcept {
    if (!former_.holds) return !planted(mutant::former_shard_omitted);
    return former_.is_lost || former_.deadline <= now;
  }

  void raise() {
    side& lower = former_.granted.number < present_.granted.number ? former_ : present_;
    number_ = std::max(former_.granted.number, present_.granted.number);
    auto* const counters = lower.at.locks->find<grant_counters>();
    const bool is_needed = former_.granted.number != present_.granted.number && former_.holds;
    if (!counters || !is_needed || planted(mutant::counter_of_other_shard_kept)) return grant();
    state_ = state::raising;
    counters->raise(name_, number_, *new raised(shared_from_this(), attempt_));
    lower.attend();
  }

  void on_raised(unsigned attempt, const failure& why) {
    if (state_ != state::raising || attempt != attempt_) return;
    if (is_cancelled_) return withdraw();
    if (why.code) return refuse(why);
    former_.is_lost || present_.is_lost ? begin_again() : grant();
  }

  // The core renews a lease that has less than half of its ttl left before anything else.
  void grant() {
    state_ = state::held;
    seam::grant g = present_.granted;
    g.number = number_;
    g.deadline = deadline();
    if (former_.holds) {
      g.others_wait = g.others_wait || former_.granted.others_wait;
      g.provisional = g.provisional || former_.granted.provisional;
      g.waiters_unknown = g.waiters_unknown || former_.granted.waiters_unknown;
    }
    g.others_wait = g.others_wait || is_contended_;
    report([g](seam::claim_sink& to) { to.on_granted(g); });
  }

  time_point deadline() const noexcept {
    return former_.holds ? std::min(former_.deadline, present_.deadline) : present_.deadline;
  }

  void on_refused(side& s, const failure& why) {
    s.holds = false;
    if (state_ == state::leaving) return go_on_leaving();
    is_cancelled_ ? withdraw() : refuse(why);
  }

  void refuse(const failure& why) {
    outcome_ = outcome::refused;
    why_ = why;
    leave();
  }
  void begin_again() {
    outcome_ = outcome::begin_again;
    leave();
  }
  void withdraw(const failure& why = {}) {
    outcome_ = outcome::withdrawn;
    if (reports(why)) why_ = why;
    leave();
  }

  void leave() {
    state_ = state::leaving;
    release(former_);
    release(present_);
    go_on_leaving();
  }

  static void release(side& s) {
    if (!s.holds || std::exchange(s.is_released, true)) return;
    s.claim->release(nullptr);
    s.attend();
  }

  // A shard ends a claim by itself only when the client is closed.
  void on_ended(side& s, const failure& why) {
    const bool was_granted = std::exchange(s.holds, false);
    if (state_ == state::leaving) {
      if (reports(why) && !why_.code) why_ = why;
      return go_on_leaving();
    }
    s.is_lost = s.is_lost || was_granted;
    if (state_ == state::raising) return refuse(why);
    if (state_ == state::held || state_ == state::idle || was_granted) return;
    is_cancelled_ ? withdraw(why) : refuse(why);
  }

  // A refusal keeps its own reason; a release and a withdrawal are answered with what the shards
  // report. A request that was cancelled has not been granted, so it does not fail if the lease at
  // its former shard has expired.
  bool reports(const failure& why) const noexcept {
    if (outcome_ == outcome::withdrawn) return why.code && why.code != errc::not_held;
    return outcome_ == outcome::ended && why.code;
  }

  void go_on_leaving() {
    if (!former_.holds && !present_.holds) finish();
  }

  void finish() {
    if (outcome_ == outcome::begin_again && !is_cancelled_) return begin();
    state_ = state::idle;
    if (outcome_ == outcome::refused && !is_cancelled_)
      return report([why = why_](seam::claim_sink& to) { to.on_refused(why); });
    report([why = outcome_ == outcome::refused ? failure() : why_](seam::claim_sink& to) {
      to.on_ended(why);
    });
  }

  void on_extended(side& s, time_point until, std::uint32_t ticket) {
    s.deadline = until;
    s.ticket = ticket;
    if (state_ != state::held) return;
    // A renewal is confirmed once both shards have confirmed it.
    const bool is_alone = !former_.holds || planted(mutant::renewal_of_one_shard_believed);
    const std::uint32_t both = is_alone ? ticket : std::min(former_.ticket, present_.ticket);
    if (both <= confirmed_) return;
    confirmed_ = both;
    const time_point end = is_alone ? until : deadline();
    report([end, both](seam::claim_sink& to) { to.on_extended(end, both); });
  }

  // The lock at the other shard would exclude clients although it has no holder any more.
  void on_lost(side& s, std::error_code why) {
    const bool was_lost = former_.is_lost || present_.is_lost;
    s.is_lost = true;
    if (state_ != state::held || was_lost) return;
    release(&s == &former_ ? present_ : former_);
    report([why](seam::claim_sink& to) { to.on_lost(why); });
  }
  void on_doubtful() {
    if (state_ == state::held) report([](seam::claim_sink& to) { to.on_doubtful(); });
  }
  void on_contended() {
    is_contended_ = true;
    if (state_ == state::held) report([](seam::claim_sink& to) { to.on_contended(); });
  }

  const std::string name_;
  seam::claim_sink& sink_;
  moving_claims& all_;
  std::mutex handler_mutex_;  // guards all that follows these
  std::atomic<std::thread::id> handler_{};
  std::mutex queue_mutex_;  // guards the next three
  std::deque<std::function<void()>> events_;
  std::deque<std::function<void(seam::claim_sink&)>> reports_;
  bool is_reporting_ = false;

  side former_, present_;
  state state_ = state::idle;
  outcome outcome_ = outcome::ended;
  bool is_cancelled_ = false, is_contended_ = false;
  seam::acquire_request request_;
  std::string note_;
  std::int64_t number_ = 0;
  std::uint32_t confirmed_ = 0;  // the last renewal that was reported
  unsigned attempt_ = 0;
  failure why_;
};

moving_claim::moving_claim(std::string_view name, const place& former, const place& present,
                           seam::claim_sink& sink, moving_claims& all)
    : course_(std::make_shared<course>(name, former, present, sink, all)) {}

moving_claim::~moving_claim() { course_->close(); }

void moving_claim::acquire(const seam::acquire_request& r) { course_->acquire(r); }
void moving_claim::cancel() { course_->cancel(); }
void moving_claim::renew(duration ttl, std::uint32_t ticket) { course_->renew(ttl, ticket); }
void moving_claim::downgrade() { course_->downgrade(); }
void moving_claim::check_waiters() { course_->check_waiters(); }

void moving_claim::release(const seam::successor* next) {
  const seam::successor after = next ? *next : seam::successor{};
  course_->release();  // may answer, and so destroy this
  if (after.who) after.who->acquire(after.request);
}

bool moving_claim::others_wait() { return course_->others_wait(); }
std::string moving_claim::owner() const { return course_->owner(); }

}  // namespace holdfast::redis
