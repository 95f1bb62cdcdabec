#include "backend/memory/memory_layout.hpp"

#include <algorithm>
#include <utility>

#include "seam/name.hpp"

namespace holdfast::memory {

void claim_details::keep(const seam::acquire_request& request) {
  if (request.mode == lock_mode::exclusive && !request.group) {
    if (all_) all_.reset();
    return;
  }
  const bool of_permits = request.mode == lock_mode::permit;
  if (!all_) all_ = std::make_unique<fields>();
  all_->mode = request.mode;
  all_->permits = of_permits ? request.permits : 0;
  all_->total_permits = of_permits ? request.total_permits : 0;
  all_->group = request.group;
}

bool claim_details::is_valid() const noexcept {
  return !all_ || all_->mode != lock_mode::permit ||
         (all_->permits > 0 && all_->permits <= all_->total_permits);
}

void claim_details::note_mismatch(std::uint32_t total_permits_in_use) {
  if (!all_) all_ = std::make_unique<fields>();
  all_->in_use = total_permits_in_use;
}

request_details claim_details::with_note(std::string_view note) const {
  if (!all_) return {std::string(note)};
  return {std::string(note), all_->mode, all_->permits, all_->total_permits};
}

memory_layout::memory_layout(std::shared_ptr<server> s, base::environment& env, const timing& t)
    : transport_(std::move(s), env, t) {}

memory_layout::~memory_layout() {
  if (is_forked()) return;
  const std::lock_guard guard(mutex());
  orphans_.drop_all();
  transport_.forget(orphan_timer_);
}

void memory_layout::add(claim& c, std::string_view lock) {
  store& data = transport_.at().data;
  c.who.high = base::random_u64(env());
  c.who.low = base::random_u64(env());
  data.add(data.attach(lock, env().now()), c);
}

void memory_layout::remove(claim& c) noexcept {
  store& data = transport_.at().data;
  transport_.forget(c);
  data.remove(c);
  data.detach(*c.lock, env().now());
}

std::optional<reply> memory_layout::submit_with_details(claim& c, request& r, time_point now) {
  if (const seam::lock_group group = c.details.group()) {
    group_request* const whole = groups_.join(group, c, *this);
    return whole ? whole->submit(c, now) : std::nullopt;
  }
  const request_details details = c.details.with_note(c.note());
  r.more = &details;
  return transport_.submit(c, *c.lock, r, now);
}

void memory_layout::on_reply(claim& c, const reply& r, time_point now, event_queue& events) {
  if (r.what == reply::verdict::mismatch && r.epoch == c.recipe().epoch())
    c.details.note_mismatch(r.total_permits);
  c.on_reply(r, {}, now, events);
}

void memory_layout::on_push(claim& c, const push& p, time_point now, event_queue& events) {
  if (p.to != c.who) return;
  const timing& rules = c.store().rules();
  c.on([&](recipe& of) { return of.on(p, now, rules); }, now, events);
}

void memory_layout::withdraw_orphan(claim& c, time_point now, event_queue&) {
  const time_point end = std::max(c.recipe().surely_over(), now);
  tick_by(orphans_.add(now, *this, *c.lock, c.who,
                       base::saturating_add(end, claims::late_request_max)));
}

void memory_layout::tick_by(time_point t) {
  if (t >= orphan_timer_.due) return;
  orphan_timer_.due = t;
  transport_.wake_at(orphan_timer_, t);
}

std::string memory_layout::text_of_owner(const claim& c) {
  const bool shared = c.recipe().is_downgraded() || c.details.is_shared();
  return shared ? group_text_of(c.recipe().granted().number) : text_of(c.who);
}

std::string memory_layout::reason(const claim& c, errc why) {
  switch (why) {
    case errc::unavailable:
      return "the memory store did not answer in time; is it in an outage, or is its latency above "
             "?op-timeout=";
    case errc::closed: return "the client was closed";
    case errc::outcome_unknown:
      return "the memory store did not answer; a grant that may exist there expires with its ttl";
    case errc::mismatch:
      return seam::kind_fault(c.details.permits_in_use(), c.details.total_permits());
    case errc::bad_option: return "request at least one permit, and at most the total";
    default: return {};
  }
}

template <class Each>
void memory_layout::for_each_claim(Each each) const {
  transport_.at().data.for_each_push_target([&](push_target& p) {
    auto& c = static_cast<claim&>(p);
    if (&c.store() == this) each(c);
  });
}

bool memory_layout::is_settled() const {
  bool waits = !orphans_.empty();
  for_each_claim([&](const claim& c) { waits = waits || c.recipe().waits(); });
  return !waits;
}

bool memory_layout::is_dispatching() const {
  bool dispatching = false;
  for_each_claim([&](const claim& c) { dispatching = dispatching || c.is_dispatching(); });
  return dispatching;
}

void memory_layout::close(event_queue& events) {
  closed_ = true;
  const time_point now = env().now();
  for_each_claim([&](claim& c) { c.give_up(errc::closed, {}, now, events); });
  orphans_.drop_all();
  deliver(now, events);
}

group_request::~group_request() {
  if (!home_.is_forked()) home_.over().forget(*this);
}

std::optional<reply> group_request::submit(const claim& asker, time_point now) {
  if (is_broken || parts_.empty()) collect(now);
  if (!home_.over().submit(*this, now)) return {};
  std::optional<reply> own;
  auto& others = home_.over().at().answers;
  hand_out(now, [&](claim& c, const reply& r) {
    if (&c == &asker) {
      own = r;
    } else {
      others.emplace_back(&c, r);
    }
  });
  return own;
}

void group_request::collect(time_point now) {
  is_broken = false;
  parts_.clear();
  details_.clear();
  details_.reserve(members.size());  // the parts keep pointers
  for (const claim* c : members) {
    details_.push_back(c->details.with_note(c->note()));
    parts_.push_back({c->lock, memory_layout::request_of(*c, operation::acquire, now), {}});
    parts_.back().what.more = &details_.back();
  }
}

void group_request::run_at(store& s, time_point now, base::environment& env, push_list& out) {
  if (!is_broken) s.apply_together(parts_, now, env, out);
}

void group_request::on_reply(const reply& r, time_point now, event_queue& events) {
  if (is_broken) return;
  hand_out(r.sent,
           [&](claim& c, const reply& its) { memory_layout::on_reply(c, its, now, events); });
}

template <class Each>
void group_request::hand_out(time_point sent, Each each) {
  const auto answered = std::move(parts_);
  const auto to = std::move(members);
  home_.groups().dissolve(*this);  // this ends here
  for (std::size_t i = 0; i < to.size(); ++i) {
    reply its = answered[i].answer;
    its.sent = sent;
    each(*to[i], its);
  }
}

// Keeps the lock's entry while it exists.
orphan::orphan(memory_layout& home, entry& lock, const owner_id& owner, time_point end) noexcept
    : claims::orphan(end), home_(home), lock_(lock), owner_(owner) {
  ++lock_.references;
}

orphan::~orphan() {
  if (home_.is_forked()) return;  // the parent's threads may have left the store in any state
  home_.over().forget(*this);
  home_.over().at().data.detach(lock_, home_.env().now());
}

claims::withdrawal orphan::withdraw(time_point now) {
  request r{.what = operation::leave, .who = owner_, .sent = now};
  return home_.over().submit(*this, lock_, r, now) ? claims::withdrawal::done
                                                   : claims::withdrawal::may_be_lost;
}

void orphan::on_reply(const reply&, time_point now, event_queue&) {
  home_.orphans().on_answer(*this, claims::withdrawal::done, now);  // this ends here
}

}  // namespace holdfast::memory
