// The part of a layout that belongs to one server. Its batches, subscriptions and orphans receive
// what comes back, so each reply and message belongs to the node of the server that sent it.
#pragma once
#include <cstddef>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "backend/redis/transport/transport.hpp"
#include "base/mutant.hpp"
#include "claim/claim_list.hpp"
#include "claim/orphan_withdrawals.hpp"

namespace holdfast::redis {

// The claims of a layout whose leases are to be renewed, many in one request. Renewals have a
// connection of their own. While that cannot be had (a server at its maxclients, no descriptor, no
// thread), they go with the commands: a renewal that waits behind other requests is better than a
// lost lock.
//
// A claim is in the queue once; its `renewing` says whether. With the reactor's mutex held.
class renewal_queue {
 public:
  static constexpr std::size_t batch_max = 256;  // claims in one request

  explicit renewal_queue(transport& over) noexcept : over_(over) {}

  template <class Claim>
  void add(Claim& c) {
    if (c.renewing) return;
    c.renewing = true;
    waiting_.push_back(c.place());
    if (waiting_.size() > 1) return;
    const time_point now = over_.reactor().env().now();
    over_.open(lane::renewals, now);
    if (goes_with_commands()) return over_.tick_by(now);  // on_tick() writes them
    over_.request_flush(lane::renewals);
  }
  template <class Claim>
  void forget(Claim& c) {  // its lock is at another server now
    if (c.renewing) std::erase(waiting_, c.place());
    c.renewing = false;
  }
  // There are some, and their own connection has failed and not been ready since.
  bool goes_with_commands() const noexcept {
    return !waiting_.empty() && over_.has_failed(lane::renewals) &&
           !over_.is_ready(lane::renewals) && over_.is_ready(lane::commands) &&
           !base::planted(base::mutant::renewals_wait_for_their_connection);
  }
  // At most 16 requests are in flight, so that the server need not buffer more, however many leases
  // there are. Replies bring the next ones.
  bool may_write() const noexcept { return !waiting_.empty() && in_flight_ < requests_max; }
  // Takes the claims of one request. `use` says of each whether it is renewed: a claim that was
  // released meanwhile is not.
  template <class Table, class Use>
  void take_batch(const Table& claims, Use use) {
    for (std::size_t n = 0; !waiting_.empty() && n < batch_max; waiting_.pop_front()) {
      auto* const c = claims.at(waiting_.front());
      if (!c || !c->renewing) continue;
      c->renewing = false;
      if (use(*c)) ++n;
    }
  }
  void on_sent() noexcept { ++in_flight_; }
  void on_end() noexcept {  // of a request: it was answered, or never will be
    --in_flight_;
    if (goes_with_commands()) over_.tick_by(over_.reactor().env().now());
  }

 private:
  static constexpr std::size_t requests_max = 16;

  transport& over_;
  std::deque<claims::claim_handle> waiting_;
  std::size_t in_flight_ = 0;
};

// Requests that a server did not execute because another one may have the keys, or is about to have
// them: they are sent again after a pause that doubles, to the server that has them
// then.
template <class Claim, class Operation>
class redirected_requests {
 public:
  explicit redirected_requests(transport& over) noexcept : over_(over) {}

  void add(const Claim& c, Operation op, time_point now) {
    all_.push_back({c.place(), c.recipe().epoch(), op});
    if (due_ != base::never) return;
    if (now - last_ > forget_after) pause_ = pause_min;
    due_ = now + base::jittered(over_.reactor().env(), pause_, 0.25);
    pause_ = std::min(2 * pause_, pause_max);
    last_ = due_;
    over_.tick_by(due_);
  }
  // again(claim, operation) for those that their claims have not given up.
  template <class Table, class Again>
  void tick(const Table& claims, time_point now, Again again) {
    if (now < due_) return over_.tick_by(due_);
    due_ = base::never;
    for (const request& r : std::exchange(all_, {})) {
      Claim* const c = claims.at(r.whose);
      const bool is_wanted = c && (c->recipe().epoch() == r.epoch ||
                                   base::planted(base::mutant::given_up_request_repeated));
      if (is_wanted) again(*c, r.what);
    }
  }
  void send_now() noexcept {  // keys have moved
    pause_ = pause_min;
    if (due_ == base::never) return;
    due_ = {};
    over_.tick_by(due_);
  }

 private:
  static constexpr duration pause_min = std::chrono::milliseconds{20},
                            pause_max = std::chrono::milliseconds{640},
                            forget_after = std::chrono::seconds{2};
  struct request {
    claims::claim_handle whose;
    std::uint32_t epoch;
    Operation what;
  };

  transport& over_;
  std::vector<request> all_;
  time_point due_ = base::never, last_{};
  duration pause_ = pause_min;
};

// With the reactor's mutex held.
class layout_node : public request_source {
 public:
  explicit layout_node(transport& over) noexcept : over_(over) {}
  virtual ~layout_node() = default;

  transport& over() const noexcept { return over_; }
  // A caller's timeout is near: what was planned for later is done by then.
  virtual void retry_now(time_point by) = 0;
  virtual void withdraw_all(time_point now) = 0;
  virtual bool is_settled() const noexcept = 0;  // nothing has to be withdrawn any more
  virtual void detach() noexcept = 0;            // the transport ends

 protected:
  transport& over_;
};

// The part of a keyed_layout for one server: the claims there, the renewals that are due, the ids
// to be withdrawn and the requests for another server. The claim's record has `node`,
// the server that its lock is stored at; an Orphan has the `key` of its lock.
template <class Layout, class Claim, class Orphan>
class claims_node : public layout_node {
 public:
  claims_node(Layout& l, transport& over) noexcept
      : layout_node(over),
        home_(l),
        keys_move_(l.keys_move()),
        claims_(l.claims()),
        renewals_(over) {}

  Layout& home() const noexcept { return home_; }
  bool keys_move() const noexcept { return keys_move_; }
  // A server that has lost the slot may still answer what it was sent: its present one is asked.
  bool has_left(const Claim& c) const noexcept {
    return c.node != this && !base::planted(base::mutant::former_server_believed);
  }
  void on_keys_moved(time_point now) {
    redirected_.send_now();
    hand_over_orphans(now);
  }
  void on_orphan_redirected(const Orphan& o, const redirection& to, time_point now) {
    if (keys_move()) home_.note_redirected(o.key, over_, to, now);
  }
  claims::claim_list<Claim>& claims() noexcept { return claims_; }
  renewal_queue& renewals_due() noexcept { return renewals_; }
  claims::orphan_withdrawals<Orphan>& orphans() noexcept { return orphans_; }
  void count_owners(int change) noexcept { owners_ += change; }
  void renew(Claim& c) { renewals_.add(c); }

  // layout_node
  void withdraw_all(time_point now) final {
    if (over_.is_ready(lane::commands)) orphans_.resend_all(now);
  }
  bool is_settled() const noexcept final { return orphans_.empty(); }

  // request_source
  void on_silent(lane, time_point now) final { watch_outage(now); }
  bool is_in_use() const noexcept final { return owners_ > 0; }

 protected:
  virtual void write_renewals(request_writer&, time_point now) = 0;

  base::environment& env() const noexcept { return over_.reactor().env(); }
  template <class Each>
  void for_each(Each each) const {
    claims_.for_each([&](Claim& c) {
      if (c.node == this) each(c);
    });
  }
  template <class Which>
  void give_up(Which which, const base::failure& why, time_point now, base::event_queue& events) {
    const auto is_meant = [&](const Claim& c) { return c.node == this && which(c); };
    claims_.give_up(is_meant, static_cast<errc>(why.code.value()), why.text, now, events);
  }

  // The commands are ready again: what has to arrive before anything new.
  void resume(time_point now, base::event_queue& events) {
    over_.check_eviction(now);
    orphans_.resend_all(now);
    if (over_.has_moved() && !base::planted(base::mutant::leases_unconfirmed))
      confirm_leases(now, events);
  }
  // A claim whose lock is at another server now.
  void confirm_at_new_server(Claim& c, time_point now, base::event_queue& events) {
    c.on([](auto& r) { return r.on_moved(); }, now, events);
    if (!c.recipe().is_held()) return;
    renewals_.add(c);
    over_.tick_by(now);
  }
  // Withdraws what is left of locks that are at another server now.
  void hand_over_orphans(time_point now) {
    if (!keys_move()) return;
    const auto is_here = [&](const Orphan& o) { return &home_.node_of_lock(o.key) == this; };
    orphans_.hand_over(is_here, [&](const Orphan& o) {
      auto& to = home_.node_of_lock(o.key);
      to.over().tick_by(to.orphans().add(now, to, o));
    });
  }
  // Claims of all nodes: the first node that ticks wakes those that are due.
  void wake_due(time_point now, base::event_queue& events) {
    over_.tick_by(claims_.wake_due(now, events));
  }
  // Sends renewals that have no connection of their own now, and withdrawals.
  void tick_renewals_and_orphans(time_point now) {
    if (renewals_.goes_with_commands())
      over_.write_commands([&](request_writer& w) { write_renewals(w, now); });
    hand_over_orphans(now);
    over_.tick_by(orphans_.tick(now));
  }

  void note_refusal(std::string why, time_point now) {
    over_.note_refusal(std::move(why), now);
    watch_outage(now);
  }
  // end_waits() is due when the first waiter makes its last attempt.
  void watch_outage(time_point now) {
    if (over_.is_unavailable()) over_.tick_by(claims_.first_end_of_wait(now));
  }
  // Ends the waits that have lasted through the outage for long enough.
  void end_waits(time_point now, base::event_queue& events) {
    const auto is_here = [this](const Claim& c) { return c.node == this; };
    const auto why = [this] { return over_.outage_text(); };
    const auto waits = claims_.end_waits(is_here, over_.out_since(), retried_at_, why, now, events);
    over_.tick_by(waits.due);
    if (waits.retry_now) retry_now(now);
  }

  Layout& home_;
  const bool keys_move_;
  claims::claim_list<Claim>& claims_;
  renewal_queue renewals_;
  claims::orphan_withdrawals<Orphan> orphans_;
  redirected_requests<Claim, typename Claim::operation> redirected_{over_};

 private:
  // At another server: what is not there is lost at once, and not at its next renewal. Until the
  // server has confirmed it, a lease is doubtful.
  void confirm_leases(time_point now, base::event_queue& events) {
    for_each([&](Claim& c) { c.on([](auto& r) { return r.on_moved(); }, now, events); });
    for_each([&](Claim& c) {
      if (c.recipe().is_held()) renewals_.add(c);
    });
    over_.write_commands([&](request_writer& w) { write_renewals(w, now); });
  }

  int owners_ = 0;           // claims that hold or want a lock
  time_point retried_at_{};  // in an outage, shortly before a wait ended
};

}  // namespace holdfast::redis
