#include "multi/multi_acquire.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/mutant.hpp"

namespace holdfast::inline v0::detail {

using core::failure;

several::several(std::span<const asked> all, wait_bound bound) : bound_(bound) {
  for (const std::size_t i : order_of(all)) {
    const auto& [home, options] = all[i];
    asking& a = in_order_.emplace_back(*this, *home, i);
    failure why = a.wants.read(lock_mode::exclusive, options, bound, a.home);
    if (why.code && !why_.code) refuse(std::move(why), a.home);
  }
}

std::vector<std::size_t> several::order_of(std::span<const asked> all) {
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (core::planted(core::mutant::multi_deadlocks)) return order;
  const auto place = [&](std::size_t i) {
    slot& home = *all[i].first;
    return std::tuple(std::string_view(home.name()), home.client().place(), home.client().text());
  };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  return order;
}

void several::own_notes() {
  for (asking& a : in_order_) {
    a.own_note = a.wants.how.note;
    a.wants.how.note = a.own_note;
  }
}

several::~several() {
  if (!is_of_this_process()) return;
  end_step();
  let_all_go();
}

bool several::advance() {
  if (!is_of_this_process()) {
    forget_all();
    return true;
  }
  if (now_ != step::none) end_step();
  if (until_ == core::never && bound_.what == wait_bound::kind::within)
    until_ = core::saturating_add(in_order_.front().home.client().env().now(), bound_.most);
  if (next_ == in_order_.size() && !all_held()) ask_again();
  if (why_.code || next_ == in_order_.size()) return true;
  now_ = now_ == step::none && can_gather() ? step::together : step::in_turn;
  begin_step();
  return false;
}

bool several::is_of_this_process() const noexcept {
  return in_order_.front().home.client().is_of_this_process();
}

// The child of a fork: what was begun and what is had is its parent's.
void several::forget_all() noexcept {
  for (asking& a : in_order_) {
    a.is_begun = false;
    a.granted = nullptr;
  }
  next_ = 0;
  refuse({errc::forked, {}}, in_order_.front().home);
}

// Whether all are in one store that can grant them in one step.
bool several::can_gather() const {
  std::vector<std::string_view> names;
  client_impl& client = in_order_.front().home.client();
  for (const asking& a : in_order_) {
    if (&a.home.client() != &client) return false;
    names.emplace_back(a.home.name());
  }
  return names.size() > 1 && client.store().can_gather(names);
}

void several::begin_step() {
  is_in_vain_ = false;
  unanswered_ = 1;
  if (now_ == step::in_turn) {
    begin(in_order_[next_], {});
  } else {
    const auto all = core::gathering::of(static_cast<std::uint32_t>(in_order_.size()));
    for (asking& a : in_order_)
      if (!is_in_vain_) begin(a, all);
  }
  one_less();
}

void several::begin(asking& a, core::gathering with) {
  a.until = core::never;
  a.why = {};
  a.wants.put_into(a);
  a.how.with = with;
  if (with) a.how.one_attempt = true;
  a.thread = thread();
  a.is_begun = true;
  ++unanswered_;
  wait_bound left = bound_;
  if (left.what == wait_bound::kind::within)
    left = wait_bound::within(until_ - a.home.client().env().now());
  a.home.begin(a, left);
  if (is_withdrawn_ || (with && is_in_vain_)) a.home.withdraw(a);
}

// Of those who are asked for together one may be refused before the store hears of it, which leaves
// the others without an answer.
void several::heard(bool granted) noexcept {
  if (!granted && !is_in_vain_.exchange(true) && now_ == step::together)
    for (asking& a : in_order_) a.home.withdraw(a);
  one_less();
}

void several::one_less() noexcept {
  if (--unanswered_ == 0) step_answered();
}

void several::withdraw() noexcept {
  if (!is_of_this_process()) return;
  is_withdrawn_ = true;
  for (asking& a : in_order_) a.home.withdraw(a);
}

void several::end_step() noexcept {
  if (now_ == step::in_turn) {
    if (next_ < in_order_.size()) end(in_order_[next_]);
  } else {
    for (asking& a : in_order_) end(a);
  }
  if (is_in_vain_) let_all_go();
}

void several::end(asking& a) noexcept {
  if (!std::exchange(a.is_begun, false)) return;
  if (a.granted) {
    ++next_;
    return;
  }
  a.home.drop_user();
  // One by one they are waited for, through an outage too.
  const bool waits = bound_.what != wait_bound::kind::one_attempt;
  const bool is_free_later = now_ == step::together && (a.why.code == outcome::busy ||
                                                        (waits && a.why.code == errc::unavailable));
  if (!is_free_later && !why_.code) refuse(std::move(a.why), a.home);
}

void several::ask_again() {
  constexpr int rounds_max = 3;
  let_all_go();
  slot& first = in_order_.front().home;
  if (bound_.what == wait_bound::kind::one_attempt) return refuse({errc::timed_out, {}}, first);
  if (++rounds_ == rounds_max)
    refuse({errc::lost, "a lock was lost while the others were waited for; raise the ttl"}, first);
  now_ = step::none;
}

bool several::all_held() const noexcept {
  return std::all_of(in_order_.begin(), in_order_.end(),
                     [](const asking& a) { return a.granted->held(); });
}

void several::let_all_go() noexcept {
  for (asking& a : in_order_)
    if (turn* const t = std::exchange(a.granted, nullptr)) a.home.unlock(*t);
  next_ = 0;
}

void several::refuse(failure why, slot& at) noexcept {
  why_ = std::move(why);
  at_ = &at;
}

turn* several::had(std::size_t place) const noexcept {
  for (const asking& a : in_order_)
    if (a.place == place) return a.granted;
  return nullptr;
}

std::vector<turn*> several::take() {
  std::vector<turn*> out(next_);
  for (asking& a : in_order_)
    if (next_ > 0) out[a.place] = std::exchange(a.granted, nullptr);
  return out;
}

}  // namespace holdfast::inline v0::detail
