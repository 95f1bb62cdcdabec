#include "multi/multi_acquire.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/mutant.hpp"

namespace holdfast::inline v0::detail {

using base::failure;

multi_acquire::multi_acquire(std::span<const asked> all, wait_bound bound) : bound_(bound) {
  for (const std::size_t i : order_of(all)) {
    const auto& [home, options] = all[i];
    member_request& a = in_order_.emplace_back(*this, *home, i);
    failure why = a.wants.read(lock_mode::exclusive, options, a.home);
    if (why.code && !why_.code) refuse(std::move(why), a.home);
  }
}

std::vector<std::size_t> multi_acquire::order_of(std::span<const asked> all) {
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto place = [&](std::size_t i) {
    local_lock& home = *all[i].first;
    return std::tuple(std::string_view(home.name()), home.client().place(), home.client().text());
  };
  const auto is_before = [&](std::size_t a, std::size_t b) { return place(a) < place(b); };
  if (!base::planted(base::mutant::multi_deadlocks))
    std::sort(order.begin(), order.end(), is_before);
  return order;
}

void multi_acquire::own_notes() {
  for (member_request& a : in_order_) {
    a.own_note = a.wants.request.note;
    a.wants.request.note = a.own_note;
  }
}

multi_acquire::~multi_acquire() {
  if (!is_of_this_process()) return;
  end_step();
  release_all();
}

bool multi_acquire::advance() {
  if (!is_of_this_process()) {
    forget_all();
    return true;
  }
  if (now_ != step::none) end_step();
  if (until_ == base::never && bound_.what == wait_bound::kind::within)
    until_ = base::saturating_add(in_order_.front().home.client().env().now(), bound_.most);
  if (next_ == in_order_.size() && !all_held()) start_over();
  if (why_.code || next_ == in_order_.size()) return true;
  now_ = now_ == step::none && can_lock_all() ? step::all_at_once : step::in_turn;
  begin_step();
  return false;
}

bool multi_acquire::is_of_this_process() const noexcept {
  return in_order_.front().home.client().is_of_this_process();
}

// In a fork's child: operations in progress and turns belong to the parent.
void multi_acquire::forget_all() noexcept {
  for (member_request& a : in_order_) {
    a.is_begun = false;
    a.granted = nullptr;
  }
  next_ = 0;
  refuse({errc::forked, {}}, in_order_.front().home);
}

// Whether all locks are in one store that can grant them in one step.
bool multi_acquire::can_lock_all() const {
  std::vector<std::string_view> names;
  const seam::lock_store* const locks = in_order_.front().home.rules().locks;
  for (const member_request& a : in_order_) {
    if (a.home.rules().locks != locks) return false;
    names.emplace_back(a.home.name());
  }
  return names.size() > 1 && locks->can_lock_all(names);
}

void multi_acquire::begin_step() {
  is_in_vain_ = false;
  unanswered_ = 1;
  if (now_ == step::in_turn) {
    begin(in_order_[next_], {});
  } else {
    const auto all = seam::lock_group::of(static_cast<std::uint32_t>(in_order_.size()));
    for (member_request& a : in_order_)
      if (!is_in_vain_) begin(a, all);
  }
  one_less();
}

// One attempt, if the time is over.
wait_bound multi_acquire::what_is_left(base::time_point now) const noexcept {
  return wait_bound::within(until_ - now);
}

void multi_acquire::begin(member_request& a, seam::lock_group with) {
  a.until = base::never;
  a.why = {};
  a.wants.put_into(a);
  a.request.group = with;
  if (with) a.request.one_attempt = true;
  a.thread = thread();
  a.is_begun = true;
  ++unanswered_;
  wait_bound left = bound_;
  if (left.what == wait_bound::kind::within && !base::planted(base::mutant::passed_bound_waits_on))
    left = what_is_left(a.home.client().env().now());
  a.home.begin(a, left);
  if (is_withdrawn_ || (with && is_in_vain_)) a.home.withdraw(a);
}

// A member of a lock group may be refused before the store gets its request; the others would then
// never be answered, so they are withdrawn.
void multi_acquire::on_answer(bool granted) noexcept {
  if (!granted && !is_in_vain_.exchange(true) && now_ == step::all_at_once)
    for (member_request& a : in_order_) a.home.withdraw(a);
  one_less();
}

void multi_acquire::one_less() noexcept {
  if (--unanswered_ == 0) step_answered();
}

void multi_acquire::withdraw() noexcept {
  if (!is_of_this_process()) return;
  is_withdrawn_ = true;
  for (member_request& a : in_order_) a.home.withdraw(a);
}

void multi_acquire::end_step() noexcept {
  if (now_ == step::in_turn) {
    if (next_ < in_order_.size()) end(in_order_[next_]);
  } else {
    for (member_request& a : in_order_) end(a);
  }
  if (is_in_vain_) release_all();
}

void multi_acquire::end(member_request& a) noexcept {
  if (!std::exchange(a.is_begun, false)) return;
  if (a.granted) {
    ++next_;
    return;
  }
  a.home.drop_user();
  // A one-by-one wait outlasts busy locks, and outages too.
  const bool waits = bound_.what != wait_bound::kind::one_attempt;
  const bool is_free_later =
      now_ == step::all_at_once &&
      (a.why.code == outcome::busy || (waits && a.why.code == errc::unavailable));
  if (!is_free_later && !why_.code) refuse(std::move(a.why), a.home);
}

void multi_acquire::start_over() {
  constexpr int rounds_max = 3;
  release_all();
  local_lock& first = in_order_.front().home;
  if (bound_.what == wait_bound::kind::one_attempt) return refuse({errc::timed_out, {}}, first);
  if (++rounds_ == rounds_max)
    refuse({errc::lost, "one lock was lost while the others were acquired; raise the ttl"}, first);
  now_ = step::none;
}

bool multi_acquire::all_held() const noexcept {
  return std::all_of(in_order_.begin(), in_order_.end(),
                     [](const member_request& a) { return a.granted->held(); });
}

void multi_acquire::release_all() noexcept {
  for (member_request& a : in_order_)
    if (turn* const t = std::exchange(a.granted, nullptr)) a.home.unlock(*t);
  next_ = 0;
}

void multi_acquire::refuse(failure why, local_lock& at) noexcept {
  why_ = std::move(why);
  at_ = &at;
}

turn* multi_acquire::had(std::size_t place) const noexcept {
  for (const member_request& a : in_order_)
    if (a.place == place) return a.granted;
  return nullptr;
}

std::vector<turn*> multi_acquire::take() {
  std::vector<turn*> out(next_);
  for (member_request& a : in_order_)
    if (next_ > 0) out[a.place] = std::exchange(a.granted, nullptr);
  return out;
}

}  // namespace holdfast::inline v0::detail
