// Every claim on a store of ours, whatever the store. A recipe decides, the store carries out, and
// this shell joins them: it locks, calls the recipe, carries out the effects, unlocks and then
// dispatches the events.
//
// No call climbs back up. store.submit() never calls the claim: it records the request, or, when
// the store answers at once, returns the answer, and the shell loops. What is meant for other
// claims waits in the store's outbox until deliver().
#pragma once
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/mutant.hpp"
#include "claim/recipe.hpp"

namespace holdfast::claims {

enum class verb : unsigned char { acquire, cancel, renew, downgrade, check_waiters, release };
enum class urgency : unsigned char { none, soon, now };  // of what a verb leaves to be written

// The members that the shell calls on a store, all but request_flush() with the store's mutex held.
// A recipe with a succession also needs takes_successor(claim, operation, request of the next) and
// submit_with_successor(claim, next, now) in place of submit().
template <class S, class C>
concept store_of = requires(S& s, C& c, const C& known, typename C::operation op, time_point now,
                            event_queue& events) {
  { s.mutex() } -> std::same_as<std::mutex&>;
  { s.env() } -> std::same_as<base::environment&>;
  { s.rules() } -> std::same_as<const timing&>;
  { s.is_forked() } -> std::same_as<bool>;
  { s.new_recipe() } -> std::same_as<typename C::recipe_type>;
  { s.clock_for_release(known) } -> std::same_as<time_point>;
  s.add(c, std::string_view());  // the claim exists from here on, under the name of its lock
  s.remove(c);                   // nothing calls it any more
  // Why the store does not begin this verb, errc{}: it does. A refused acquire is answered with it,
  // a refused release is given up; the others have no effect.
  { s.refuses(known, verb::acquire) } -> std::same_as<errc>;
  // Records the request, or returns its answer. May append to the outbox; calls no claim.
  { s.submit(c, op, now, events) } -> std::same_as<std::optional<typename C::reply>>;
  s.deliver(now, events);  // hands the outbox to the claims, until it is empty
  s.renew_owner(c);
  s.withdraw_orphan(c, now, events);
  s.wake_at(c, now);     // never: not at all
  s.after_step(c, now);  // an idle claim has no owner id and sleeps for nothing
  s.request_flush(urgency::soon);
  // Whether the store itself knows that another client waits for this claim's release.
  { s.is_release_urgent(known) } -> std::same_as<bool>;
  { s.text_of_owner(known) } -> std::same_as<std::string>;  // what a guard compares
  // The text of a failure that has none of its own.
  { s.reason(known, errc{}) } -> std::same_as<std::string>;
};

// The part of store_of that is the same in a store that begins every verb, hands on nothing by
// itself, and knows of waiters only through the recipe.
struct store_defaults {
  static errc refuses(const seam::claim&, verb) noexcept { return {}; }
  static void deliver(time_point, event_queue&) noexcept {}
  static bool is_release_urgent(const seam::claim&) noexcept { return false; }
};

// The store extends leases without a request: under lifetimes other than `ttl`.
template <class Protocol>
concept extends_unasked = requires {
  requires Protocol::extends_unasked;
};

// Protocol: {recipe, store, request_details, record}. `record` is what the store keeps of
// each claim, `request_details` what a request says beyond its ttl and its note.
template <class Protocol>
class store_claim final : public seam::claim, public Protocol::record, private base::event_source {
 public:
  using recipe_type = typename Protocol::recipe;
  using store_type = typename Protocol::store;
  using operation = typename recipe_type::operation;
  using reply = typename recipe_type::reply;
  static_assert(claims::recipe<recipe_type>);

  store_claim(store_type& store, std::string_view lock_name, seam::claim_sink& sink)
      : store_(store), sink_(sink), recipe_(store.new_recipe()) {
    const std::lock_guard guard(store_.mutex());
    store_.add(*this, lock_name);
  }
  store_claim(const store_claim&) = delete;
  store_claim& operator=(const store_claim&) = delete;
  ~store_claim() override = default;
  // The core may destroy a claim while another thread still dispatches its events.
  static void operator delete(store_claim* c, std::destroying_delete_t) {
    // In a fork's child the mutex may be locked forever: leak the claim.
    if (c->store_.is_forked()) return;
    {
      const std::lock_guard guard(c->store_.mutex());
      c->store_.remove(*c);
    }
    if (c->retire()) c->on_retired();
  }

  void acquire(const seam::acquire_request& request) override {
    run(urgency::soon, request.at, [&](time_point now) {
      keep(request);
      const errc why = store_.refuses(*this, verb::acquire);
      if (why == errc{}) return recipe_.acquire(request, now, rules());
      return step{.event = claim_event::refused, .why = why};
    });
  }
  void cancel() override {
    run(urgency::soon, {}, [&](time_point now) { return recipe_.cancel(now, rules()); });
  }
  void renew(duration ttl, std::uint32_t ticket) override {
    run(urgency::none, {}, [&](time_point now) {
      ticket_ = ticket;
      return begins(verb::renew) ? recipe_.renew(ttl, now, rules()) : step();
    });
  }
  void downgrade() override {
    run(urgency::soon, {}, [&](time_point now) {
      return begins(verb::downgrade) ? recipe_.downgrade(now, rules()) : step();
    });
  }
  void check_waiters() override {
    if constexpr (with_waiter_check<recipe_type>) {
      run(urgency::soon, {}, [&](time_point now) {
        return begins(verb::check_waiters) ? recipe_.check_waiters(now, rules()) : step();
      });
    }
  }
  void release(const seam::successor* next) override {
    // Copied first: once the end is dispatched, this claim may be gone.
    const seam::successor after = next ? *next : seam::successor{};
    if (store_.is_forked()) return;
    event_queue events;
    urgency when = urgency::soon;
    bool succeeded = false;
    {
      const std::lock_guard guard(store_.mutex());
      const time_point now = store_.clock_for_release(*this);
      if (recipe_.others_wait() || store_.is_release_urgent(*this)) when = urgency::now;
      step out = recipe_.release(now, rules());
      if (out.send != operation{} && !begins(verb::release))
        out = recipe_.give_up(errc::outcome_unknown);
      if constexpr (with_succession<recipe_type>)
        succeeded = after.who && release_to(after, out, now, events);
      carry_out(out, now, events);
      store_.deliver(now, events);
    }
    store_.request_flush(when);
    events.dispatch();
    if (after.who && !succeeded) after.who->acquire(after.request);
  }
  std::string owner() const override {
    const std::lock_guard guard(store_.mutex());
    return store_.text_of_owner(*this);
  }

  // For the store, with its mutex held. Each is one event of the recipe and its effects; the store
  // calls deliver() by itself.
  void on_reply(const reply& r, std::string text, time_point now, event_queue& events) {
    carry_out(apply(r, now), now, events, &text);
  }
  void on_wake(time_point now, event_queue& events) {
    carry_out(recipe_.on_wake(now, rules()), now, events);
  }
  void give_up(errc why, std::string text, time_point now, event_queue& events) {
    carry_out(recipe_.give_up(why), now, events, &text);
  }
  // An event that only this recipe knows: a push, a cut connection.
  template <class Event>
  void on(Event event, time_point now, event_queue& events) {
    carry_out(event(recipe_), now, events);
  }

  const recipe_type& recipe() const noexcept { return recipe_; }
  store_type& store() const noexcept { return store_; }
  std::uint32_t ticket() const noexcept { return ticket_; }  // of the renewal to send
  std::string_view note() const noexcept {
    return text_ && !has_failed_ ? std::string_view(*text_) : std::string_view();
  }
  using base::event_source::is_dispatching;

 private:
  using step = effects<operation>;

  const timing& rules() const noexcept { return store_.rules(); }
  bool begins(verb v) const { return store_.refuses(*this, v) == errc{}; }

  template <class Step>
  void run(urgency when, time_point at, Step decide) {
    if (store_.is_forked()) return;
    event_queue events;
    const time_point now = at == time_point{} ? store_.env().now() : at;
    {
      const std::lock_guard guard(store_.mutex());
      carry_out(decide(now), now, events);
      store_.deliver(now, events);
    }
    // A caller that awaits the reply writes the request itself: cohort::wait() leads the loop.
    if (when != urgency::none) store_.request_flush(when);
    events.dispatch();  // the last act: the claim, and the client, may be gone then
  }

  void keep(const seam::acquire_request& request) {
    has_failed_ = false;
    if (!request.note.empty()) {
      text_ = std::make_unique<const std::string>(request.note);
    } else if (text_) {
      text_.reset();
    }
    details.keep(request);
  }

  // Whether the release also asks for the next claim; then it sends nothing of its own.
  bool release_to(const seam::successor& after, step& out, time_point now, event_queue& events) {
    if (!store_.takes_successor(*this, out.send, after.request)) return false;
    auto& next = static_cast<store_claim&>(*after.who);
    next.keep(after.request);
    next.carry_out(next.recipe_.succeed(after.request, now, rules()), now, events);
    store_.submit_with_successor(*this, next, now);
    out.send = operation{};
    return true;
  }

  step apply(const reply& r, time_point now) {
    const step out = recipe_.on(r, now, rules());
    if (base::has(out.event, claim_event::extended)) extended_by_ = r.ticket;
    return out;
  }

  void carry_out(step s, time_point now, event_queue& events, std::string* text = nullptr) {
    for (;;) {
      if (s.orphan) store_.withdraw_orphan(*this, now, events);
      if (s.new_owner) store_.renew_owner(*this);
      if (s.event != claim_event::none) post(s, text, events);
      if (s.send == operation{}) break;
      const std::optional<reply> answered = store_.submit(*this, s.send, now, events);
      if (!answered) break;
      s = apply(*answered, now);
    }
    if (s.sleeps) {
      const bool wakes = s.wake != base::never;
      const duration delay = wakes ? base::jittered(store_.env(), s.spread / 2, 1.0) : duration{};
      store_.wake_at(*this, base::saturating_add(s.wake, delay));
    }
    store_.after_step(*this, now);
  }

  void post(const step& s, std::string* text, event_queue& events) {
    if (base::has(s.event, claim_event::granted)) {
      others_waited_ = recipe_.others_wait();
    } else if (base::has(s.event, claim_event::refused) || base::has(s.event, claim_event::lost) ||
               base::has(s.event, claim_event::ended)) {
      why_ = s.why;
      if (s.event != claim_event::lost && has_text(s.why)) {
        const bool is_given = text && !text->empty();
        set_reason(is_given ? std::move(*text) : store_.reason(*this, s.why));
      }
    }
    events.post(*this, s.event);
  }

  static bool has_text(errc why) noexcept {
    return why != errc{} && why != errc::timed_out && why != errc::not_held;
  }
  void set_reason(std::string text) {
    text_ = std::make_unique<const std::string>(std::move(text));
    has_failed_ = true;
  }
  base::failure failure() const {
    if (why_ == errc{}) return {};
    return {make_error_code(why_), has_text(why_) && has_failed_ ? *text_ : std::string()};
  }

  void on_event(claim_event event) override {
    switch (event) {
      case claim_event::granted: return sink_.on_granted(grant());
      case claim_event::refused: return sink_.on_refused(failure());
      case claim_event::wanted: return sink_.on_contended();
      case claim_event::extended: {
        time_point deadline;
        std::uint32_t ticket;
        {
          const std::lock_guard guard(store_.mutex());  // a later renewal may write them
          deadline = recipe_.granted().deadline;
          ticket = extended_by_;
        }
        return sink_.on_extended(deadline, ticket);
      }
      case claim_event::doubtful: {
        if constexpr (with_doubt<recipe_type>) {
          bool is_doubtful;
          {
            const std::lock_guard guard(store_.mutex());  // it may be over by now
            is_doubtful = recipe_.is_doubtful();
          }
          if (is_doubtful && !base::planted(base::mutant::session_doubt_dropped))
            sink_.on_doubtful();
        }
        return;
      }
      case claim_event::revocation: return sink_.on_revocation_requested();
      case claim_event::lost: {
        errc why;
        {
          const std::lock_guard guard(store_.mutex());  // a release may write it
          why = why_;
        }
        return sink_.on_lost(make_error_code(why));
      }
      case claim_event::ended: return sink_.on_ended(failure());
      case claim_event::none: return;
    }
  }
  // Nothing but others_wait changes before the core has heard of the grant: only the core renews.
  // Where the store extends leases unasked, it may do so meanwhile.
  seam::grant grant() const {
    std::unique_lock guard(store_.mutex(), std::defer_lock);
    if constexpr (extends_unasked<Protocol>) guard.lock();
    seam::grant out = recipe_.granted();
    out.others_wait = others_waited_;
    return out;
  }
  void on_retired() noexcept override {
    this->~store_claim();
    ::operator delete(static_cast<void*>(this));
  }

  // The small members use the tail padding of event_source.
  bool others_waited_ : 1 = false;  // at the grant
  bool has_failed_ : 1 = false;     // text_ is the reason
  errc why_{};

 public:
  typename Protocol::request_details details;

 private:
  store_type& store_;
  seam::claim_sink& sink_;
  recipe_type recipe_;
  std::unique_ptr<const std::string> text_;  // the note; or, after a failure, the reason
  std::uint32_t ticket_ = 0;
  std::uint32_t extended_by_ = 0;  // the ticket of the renewal that set the deadline
};

}  // namespace holdfast::claims
