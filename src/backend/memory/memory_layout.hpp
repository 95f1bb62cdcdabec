// The store of the memory backend's claims: what one client's claims share.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backend/memory/transport.hpp"
#include "claim/group_barrier.hpp"
#include "claim/orphan_withdrawals.hpp"
#include "claim/store_claim.hpp"

namespace holdfast::memory {

class memory_layout;

// The parts of a request that a single exclusive lock does not need. The note stays with the claim.
class claim_details {
 public:
  void keep(const seam::acquire_request&);
  seam::lock_group group() const noexcept { return all_ ? all_->group : seam::lock_group{}; }
  bool is_shared() const noexcept { return all_ && all_->mode == lock_mode::shared; }
  bool is_valid() const noexcept;
  void leave_group() noexcept { all_->group = {}; }
  void note_mismatch(std::uint32_t total_permits_in_use);
  std::uint32_t permits_in_use() const noexcept { return all_->in_use; }
  std::uint32_t total_permits() const noexcept { return all_->total_permits; }
  // For a request; the default when nothing is kept.
  request_details with_note(std::string_view) const;
  explicit operator bool() const noexcept { return all_ != nullptr; }

 private:
  struct fields {
    lock_mode mode = lock_mode::exclusive;
    std::uint32_t permits = 0;        // as in request_details
    std::uint32_t total_permits = 0;  // the same
    std::uint32_t in_use = 0;         // mismatch: the size that the holders use
    seam::lock_group group;           // until it is answered
  };
  std::unique_ptr<fields> all_;
};

struct memory_protocol {
  using recipe = memory::recipe;
  using store = memory_layout;
  using request_details = claim_details;
  using record = subscriber;
};
using claim = claims::store_claim<memory_protocol>;

// One that is left at the store.
struct orphan final : claims::orphan, reply_handler {
  orphan(memory_layout& home, entry& lock, const owner_id& owner, time_point end) noexcept;
  ~orphan();
  claims::withdrawal withdraw(time_point now);
  void on_reply(const reply&, time_point now, event_queue&) override;
  void on_wake(time_point, event_queue&) override {}

  std::list<orphan>::iterator place;

 private:
  memory_layout& home_;
  entry& lock_;
  const owner_id owner_;
};

// The requests of a whole group, in one message. A member that leaves while it is under way breaks
// it: the store does not execute it, and those that are left wait for their op-timeout.
struct group_request final : claims::claim_group<claim>, store_query {
  group_request(const seam::lock_group& g, memory_layout& home) noexcept
      : claim_group(g), home_(home) {}
  ~group_request();
  // Sends it. The reply to `asker` is returned, those to the others go to the outbox.
  std::optional<reply> submit(const claim& asker, time_point now);
  void run_at(store&, time_point now, base::environment&, push_list&) override;
  void on_reply(const reply&, time_point now, event_queue&) override;
  void on_wake(time_point, event_queue&) override {}

 private:
  void collect(time_point now);
  // Ends this.
  template <class Each>
  void hand_out(time_point sent, Each);

  memory_layout& home_;
  std::vector<part> parts_;  // of the members, in their order
  std::vector<request_details> details_;
};

class memory_layout {
 public:
  memory_layout(std::shared_ptr<server>, base::environment&, const timing&);
  ~memory_layout();  // the client is closed before

  transport& over() noexcept { return transport_; }
  const transport& over() const noexcept { return transport_; }
  claims::group_barrier<group_request>& groups() noexcept { return groups_; }
  claims::orphan_withdrawals<orphan>& orphans() noexcept { return orphans_; }

  // The backend's, with the mutex held.
  bool is_settled() const;  // no claim waits for an answer, and nothing is left at the store
  bool is_dispatching() const;
  void close(event_queue&);  // gives up what waits; nothing is awaited from here on

  // The contract of claims::store_of.
  std::mutex& mutex() const noexcept { return transport_.at().mutex; }
  base::environment& env() noexcept { return transport_.env(); }
  const timing& rules() const noexcept { return transport_.rules(); }
  bool is_forked() const noexcept { return transport_.is_forked(); }
  static recipe new_recipe() noexcept { return {}; }
  time_point clock_for_release(const claim&);
  void add(claim&, std::string_view lock);
  void remove(claim&) noexcept;
  errc refuses(const claim&, claims::verb) const noexcept;
  std::optional<reply> submit(claim&, operation, time_point now, event_queue&);
  void deliver(time_point now, event_queue& events) { transport_.at().deliver(now, events); }
  static bool is_release_urgent(const claim&) noexcept { return false; }
  static void renew_owner(claim&) noexcept;
  void withdraw_orphan(claim&, time_point now, event_queue&);
  void wake_at(claim&, time_point);
  void after_step(claim&, time_point now);
  static void request_flush(claims::urgency) noexcept {}
  static std::string text_of_owner(const claim&);
  static std::string reason(const claim&, errc);

  // The transport's, with the mutex held.
  static void on_reply(claim&, const reply&, time_point now, event_queue&);
  static void on_push(claim&, const push&, time_point now, event_queue&);
  void tick_by(time_point);  // when the next orphan is due

  static request request_of(const claim&, operation, time_point now);

 private:
  struct orphan_timer final : reply_handler {
    explicit orphan_timer(memory_layout& l) noexcept : home(l) {}
    void on_reply(const reply&, time_point, event_queue&) override {}
    void on_wake(time_point now, event_queue&) override {
      due = base::never;
      home.tick_by(home.orphans_.tick(now));
    }
    memory_layout& home;
    time_point due = base::never;
  };
  std::optional<reply> submit_with_details(claim&, request&, time_point now);
  template <class Each>
  void for_each_claim(Each) const;

  class transport transport_;
  orphan_timer orphan_timer_{*this};
  claims::orphan_withdrawals<orphan> orphans_;
  claims::group_barrier<group_request> groups_;
  bool closed_ = false;
};

static_assert(claims::store_of<memory_layout, claim>);

inline request memory_layout::request_of(const claim& c, operation op, time_point now) {
  request r = c.recipe().to_send(op, now);
  r.who = c.who;
  r.ticket = c.ticket();
  return r;
}

inline std::optional<reply> memory_layout::submit(claim& c, operation op, time_point now,
                                                  event_queue&) {
  request r = request_of(c, op, now);
  const bool is_plain = op != operation::acquire || (!c.details && c.note().empty());
  std::optional<reply> answered =
      is_plain ? transport_.submit(c, *c.lock, r, now) : submit_with_details(c, r, now);
  if (answered && answered->what == reply::verdict::mismatch)
    c.details.note_mismatch(answered->total_permits);
  return answered;
}

inline void memory_layout::renew_owner(claim& c) noexcept { ++c.who.low; }

inline void memory_layout::wake_at(claim& c, time_point t) { transport_.wake_at(c, t); }

inline void memory_layout::after_step(claim& c, time_point) {
  if (const auto group = c.details.group(); group && !c.recipe().asks()) {
    c.details.leave_group();
    groups_.leave(group, c);
  }
  if (!c.recipe().waits() && !c.recipe().repeats()) transport_.wake_at(c, base::never);
}

// When no claim is queued the time of a release does not matter, and reading the clock costs more
// than all the rest: the release is dated to the grant.
inline time_point memory_layout::clock_for_release(const claim& c) {
  const bool is_undated =
      transport_.is_fault_free() && !c.lock->wanted() && c.lock->holder == c.who;
  return is_undated ? c.recipe().granted().received_at : transport_.env().now();
}

inline errc memory_layout::refuses(const claim& c, claims::verb v) const noexcept {
  if (v == claims::verb::acquire) {
    if (closed_) return errc::closed;
    return c.details.is_valid() ? errc{} : errc::bad_option;
  }
  // After close() no answer is awaited.
  const bool is_awaited = v == claims::verb::release && transport_.is_fault_free();
  return closed_ && !is_awaited ? errc::closed : errc{};
}

}  // namespace holdfast::memory
