#include "testkit/fake_store.hpp"

#include <algorithm>

namespace holdfast::testkit {

using base::claim_event;
using base::event_queue;
using seam::lifetime;

namespace {

template <lifetime life>
seam::backend open_bound_to(const seam::open_args& how) {
  return seam::backend_of(std::make_unique<fake_store>(life, how.env));
}

constexpr seam::scheme schemes[] = {
    {"ttl", open_bound_to<lifetime::ttl>, ""},
    {"session", open_bound_to<lifetime::session>, ""},
    {"connection", open_bound_to<lifetime::connection>, ""},
    {"process", open_bound_to<lifetime::process>, ""},
};

}  // namespace

fake_store::fake_store(lifetime life, base::environment& env) : env_(env) {
  can_.life = life;
  can_.contention = seam::contention_signal::push;
  can_.modes |= seam::bit_of(lock_mode::shared);
  if (can_.has_deadlines()) deadline_ = env.now() + session_timeout;
}

client fake_store::open(lifetime life, base::environment& env, std::string_view options) {
  std::string text(schemes[static_cast<std::size_t>(life)].name);
  text.append(options.empty() ? ":" : ":?").append(options);
  return detail::client_access::open(url::parse(text), {}, env, {}, schemes);
}

std::unique_ptr<seam::claim> fake_store::open(std::string_view, seam::claim_sink& sink) {
  return std::make_unique<claim>(*this, sink);
}

fake_store::claim::claim(fake_store& s, seam::claim_sink& sink) : store_(s), sink_(sink) {
  const std::lock_guard guard(store_.mutex_);
  store_.claims_.insert(this);
}

// Changes what the store knows, and then reports the event to each claim that holds a lock.
template <class Change>
void fake_store::change_holders(claim_event what, Change change) {
  event_queue events;
  {
    const std::lock_guard guard(mutex_);
    change();
    for (claim* const c : claims_) {
      if (!c->is_held_) continue;
      if (what == claim_event::extended) {
        c->deadline_ = deadline_;
        c->ticket_ = 0;
      }
      events.post(*c, what);
    }
  }
  events.dispatch();
}

void fake_store::confirm_until(time_point t) {
  change_holders(claim_event::extended, [&] { deadline_ = t; });
}
void fake_store::doubt() {
  change_holders(claim_event::doubtful, [] {});
}
void fake_store::request_revocation() {
  change_holders(claim_event::revocation, [] {});
}
void fake_store::end() {
  change_holders(claim_event::lost, [&] { deadline_ = env_.now(); });
}

bool fake_store::close(time_point) {
  std::ptrdiff_t held = 0;
  {
    const std::lock_guard guard(mutex_);
    held = std::ranges::count_if(claims_, [](const claim* c) { return c->is_held_; });
  }
  on_close_(static_cast<std::size_t>(held));
  return true;
}

time_point fake_store::deadline() {
  const std::lock_guard guard(mutex_);
  return deadline_;
}

int fake_store::renewals() {
  const std::lock_guard guard(mutex_);
  return renewals_;
}

int fake_store::checks_for_waiters() {
  const std::lock_guard guard(mutex_);
  return checks_;
}

int fake_store::grouped_requests() {
  const std::lock_guard guard(mutex_);
  return grouped_requests_;
}

void fake_store::claim::operator delete(claim* c, std::destroying_delete_t) {
  {
    const std::lock_guard guard(c->store_.mutex_);
    c->store_.claims_.erase(c);
  }
  if (c->retire()) c->on_retired();
}

void fake_store::claim::on_retired() noexcept {
  this->~claim();
  ::operator delete(static_cast<void*>(this));
}

void fake_store::claim::acquire(const seam::acquire_request& a) {
  event_queue events;
  {
    const std::lock_guard guard(store_.mutex_);
    ttl_ = a.ttl;
    if (a.group) ++store_.grouped_requests_;
    const bool is_busy = std::any_of(store_.claims_.begin(), store_.claims_.end(),
                                     [](const claim* c) { return c->is_held_; });
    if (is_busy && a.one_attempt)
      events.post(*this, claim_event::refused);
    else if (is_busy)
      store_.queue_.push_back(this);
    else
      grant(events);
  }
  events.dispatch();
}

void fake_store::claim::grant(event_queue& events) {
  is_held_ = true;
  number_ = ++store_.number_;
  deadline_ = store_.can_.core_renews() ? store_.env_.now() + ttl_ : store_.deadline_;
  events.post(*this, claim_event::granted);
}

void fake_store::claim::check_waiters() {
  const std::lock_guard guard(store_.mutex_);
  ++store_.checks_;
}

void fake_store::claim::cancel() {
  event_queue events;
  {
    const std::lock_guard guard(store_.mutex_);
    if (std::erase(store_.queue_, this) > 0) events.post(*this, claim_event::ended);
  }
  events.dispatch();
}

void fake_store::claim::renew(duration ttl, std::uint32_t ticket) {
  store_.on_renewal_();
  event_queue events;
  {
    const std::lock_guard guard(store_.mutex_);
    ++store_.renewals_;
    ttl_ = ttl;
    ticket_ = ticket;
    if (is_held_ && store_.can_.core_renews()) {
      deadline_ = store_.env_.now() + ttl;
      events.post(*this, claim_event::extended);
    }
  }
  events.dispatch();
}

void fake_store::claim::release(const seam::successor* next) {
  const seam::successor after = next ? *next : seam::successor{};
  event_queue events;
  {
    const std::lock_guard guard(store_.mutex_);
    end(events);
  }
  events.dispatch();
  if (after.who) after.who->acquire(after.request);
}

void fake_store::claim::end(event_queue& events) {
  is_held_ = false;
  events.post(*this, claim_event::ended);
  if (store_.queue_.empty()) return;
  claim* const first = store_.queue_.front();
  store_.queue_.pop_front();
  first->grant(events);
}

// A heartbeat may write the deadline while another thread dispatches.
void fake_store::claim::on_event(claim_event what) {
  seam::grant g;
  std::uint32_t ticket = 0;
  {
    const std::lock_guard guard(store_.mutex_);
    g.number = number_;
    g.deadline = deadline_;
    ticket = ticket_;
  }
  g.waiters_unknown = true;
  if (store_.can_.has_deadlines()) g.received_at = store_.env_.now();
  if (!store_.can_.core_renews() && store_.can_.has_deadlines()) g.lease_term = session_timeout;
  switch (what) {
    case claim_event::granted: return sink_.on_granted(g);
    case claim_event::refused: return sink_.on_refused({make_error_code(errc::timed_out), {}});
    case claim_event::wanted: return sink_.on_contended();
    case claim_event::extended: return sink_.on_extended(g.deadline, ticket);
    case claim_event::doubtful: return sink_.on_doubtful();
    case claim_event::revocation: return sink_.on_revocation_requested();
    case claim_event::lost: return sink_.on_lost(make_error_code(errc::lost));
    case claim_event::ended: return sink_.on_ended({});
    case claim_event::none: break;
  }
}

}  // namespace holdfast::testkit
