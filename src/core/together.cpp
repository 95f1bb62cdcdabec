// Several locks as one: all or none of them.
#include <algorithm>
#include <atomic>
#include <deque>
#include <optional>
#include <utility>

#include <holdfast/client.hpp>
#include <holdfast/multi_mutex.hpp>

#include "core/blocked.hpp"
#include "core/client_impl.hpp"
#include "core/fail.hpp"
#include "core/lockable_state.hpp"
#include "core/mutant.hpp"
#include "core/request.hpp"

namespace holdfast::inline v0::detail {

using core::failure;

namespace {

struct member {
  slot* home;
  request asked;
};

// Where the locks are, as the URL says it: without its options. Two clients of "memory:" have a
// store each.
std::string_view store_of(slot& s) noexcept {
  const std::string_view text = s.client().text();
  return text.substr(0, text.find('?'));
}

class patience {  // what is left of a bound for several waits
 public:
  patience(wait_bound b, core::environment& env) : bound_(b), env_(env) {
    if (b.what == wait_bound::kind::within) until_ = core::saturating_add(env.now(), b.most);
  }
  wait_bound left() const noexcept {
    return bound_.what == wait_bound::kind::within ? wait_bound::within(until_ - env_.now())
                                                   : bound_;
  }

 private:
  wait_bound bound_;
  core::environment& env_;
  core::time_point until_ = core::never;
};

// Asks for all members in one step at the store. One that is refused before the store hears of it
// leaves the others without an answer: they are withdrawn then.
class gathering {
 public:
  explicit gathering(std::size_t members)
      : with_(core::gathering::of(static_cast<std::uint32_t>(members))) {}

  void ask(member& m, wait_bound bound) {
    asking& a = all_.emplace_back(*this, *m.home);
    a.how = m.asked.how;
    a.how.one_attempt = true;
    a.how.with = with_;
    a.renews = m.asked.renews;
    a.max_hold = m.asked.max_hold;
    m.home->begin(a, bound);
  }
  bool is_in_vain() const noexcept { return in_vain_.load(std::memory_order_acquire); }

  // False: none is taken; a failure that asking again would not mend is in `why`.
  bool wait(core::backend& store, std::stop_token stop, std::vector<lease>& taken, failure& why,
            slot*& at) {
    store.flush();
    {
      const std::stop_callback on_stop(std::move(stop), [this] { withdraw(); });
      if (!is_in_vain()) core::wait(news_, store);
    }
    if (is_in_vain()) withdraw();
    store.flush();
    for (asking& a : all_) {
      core::wait(a.parker, store);
      if (a.granted) {
        taken.push_back(together::lease_of(*a.granted));
        continue;
      }
      a.home.drop_user();
      if (a.why.code == outcome::busy || why.code) continue;
      why = std::move(a.why);
      at = &a.home;
    }
    if (is_in_vain()) taken.clear();
    return !is_in_vain();
  }

 private:
  struct asking final : core::waiter {
    asking(gathering& o, slot& h) noexcept : of(o), home(h) {}
    void complete() noexcept override {
      of.heard(granted != nullptr);
      parker.signal();
    }
    gathering& of;
    slot& home;
    core::parker parker;
  };

  void withdraw() noexcept {
    for (asking& a : all_) a.home.withdraw(a);
  }

  // The first refusal is news, and so is the last answer.
  void heard(bool granted) noexcept {
    const bool is_last = answers_.fetch_add(1) + 1 == with_.members;
    if (!granted ? !in_vain_.exchange(true) : is_last && !is_in_vain()) news_.signal();
  }

  const core::gathering with_;
  std::deque<asking> all_;
  core::parker news_;
  std::atomic<std::uint32_t> answers_{0};
  std::atomic<bool> in_vain_{false};
};

// In one step at the store, where that is possible. False: they have to be taken one by one, unless
// `why` says that this is in vain too.
bool gather(std::vector<member>& all, const patience& p, const std::stop_token& stop,
            std::vector<lease>& taken, failure& why, slot*& at) {
  core::backend& store = all.front().home->client().store();
  std::vector<std::string_view> names;
  for (const member& m : all) {
    if (&m.home->client() != &all.front().home->client()) return false;
    names.emplace_back(m.home->name());
  }
  if (all.size() < 2 || !store.can_gather(names)) return false;
  gathering here(all.size());
  for (member& m : all)
    if (!here.is_in_vain()) here.ask(m, p.left());
  return here.wait(store, stop, taken, why, at);
}

bool take_in_turn(std::vector<member>& all, const patience& p, const std::stop_token& stop,
                  std::vector<lease>& taken, failure& why, slot*& at) {
  for (member& m : all) {
    turn* const t = m.home->acquire(m.asked, p.left(), stop, why);
    if (t) {
      taken.push_back(together::lease_of(*t));
      continue;
    }
    at = m.home;
    taken.clear();
    return false;
  }
  return true;
}

// Again, when one was lost while the others were waited for; but not for ever: then the ttl is too
// short for all of them.
failure take_all(std::vector<member>& all, const patience& p, const std::stop_token& stop,
                 std::vector<lease>& taken, slot*& at) {
  constexpr int rounds = 3;
  failure why;
  for (int round = 0; round < rounds; ++round) {
    if (!gather(all, p, stop, taken, why, at) &&
        (why.code || !take_in_turn(all, p, stop, taken, why, at)))
      return why;
    if (std::all_of(taken.begin(), taken.end(), [](const lease& l) { return l.held(); })) return {};
    taken.clear();
    at = all.front().home;
    if (p.left().what == wait_bound::kind::one_attempt) return {errc::timed_out, {}};
  }
  return {errc::lost, "a lock was lost while the others were waited for; raise the ttl"};
}

}  // namespace

std::vector<std::size_t> together::order_of(std::span<exclusive_lockable* const> locks) {
  std::vector<std::size_t> order(locks.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (core::planted(core::mutant::multi_deadlocks)) return order;
  const auto place = [&](std::size_t i) {
    slot& home = locks[i]->state_->home;
    return std::pair<std::string_view, std::string_view>(home.name(), home.client().text());
  };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  return order;
}

void together::refuse_twins(std::span<exclusive_lockable* const> locks) {
  const auto same = [](slot& a, slot& b) {
    const std::string_view store = store_of(a);
    return &a == &b || (a.name() == b.name() && store == store_of(b) && store != "memory:");
  };
  for (std::size_t i = 0; i < locks.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      slot& home = locks[i]->state_->home;
      if (!same(home, locks[j]->state_->home)) continue;
      home.fail("multi_mutex", {errc::bad_option, "it is given twice; name each lock once"});
    }
}

lease_set together::take(std::span<exclusive_lockable* const> locks, const acquire_options& given,
                         std::size_t size, wait_bound bound, std::stop_token stop,
                         std::error_code* ec) {
  if (ec) ec->clear();
  slot* at = nullptr;
  failure why;
  const std::vector<std::size_t> order = order_of(locks);
  std::vector<member> all;
  for (const std::size_t i : order) {
    member& m = all.emplace_back(member{&locks[i]->state_->home, {}});
    if (!why.code) why = m.asked.read(lock_mode::exclusive, given, size, bound, *m.home);
    if (why.code && !at) at = m.home;
  }
  std::vector<lease> taken;
  if (!why.code && !all.empty()) {
    const patience p(bound, all.front().home->client().env());
    why = take_all(all, p, stop, taken, at);
  }
  if (all.empty()) core::fail(errc::bad_option, "acquire", "no lock is named; name at least one");
  if (!why.code) {
    std::vector<lease> as_given(taken.size());
    for (std::size_t i = 0; i < order.size(); ++i) as_given[order[i]] = std::move(taken[i]);
    return set_of(std::move(as_given));
  }
  const bool is_try = bound.what != wait_bound::kind::forever;
  if (is_try && why.code == outcome::busy) return {};
  if (!ec) at->fail(is_try ? "try_acquire" : "acquire", std::move(why));
  *ec = why.code;
  return {};
}

// All at once, then their answers.
std::error_code together::release(std::vector<lease>& all) noexcept {
  std::error_code first;
  const auto note = [&](std::error_code code) { first = first ? first : code; };
  struct parting {
    slot* home;
    std::error_code lost;
    core::blocked_inquiry answer;
  };
  std::deque<parting> leaving;
  for (lease& l : all) {
    const std::error_code lost = l.status();
    turn* const t = std::exchange(l.turn_, nullptr);
    const bool is_last =
        t && t->is_of_this_process() && t->leases.fetch_sub(1, std::memory_order_acq_rel) == 1;
    if (!is_last) {
      note(lost);
      continue;
    }
    parting& p = leaving.emplace_back();
    p.home = &t->home;
    p.lost = lost;
    p.home->begin_release(*t, p.answer);
  }
  for (parting& p : leaving) note(p.home->finish_release(p.answer, p.lost).code);
  all.clear();
  return first;
}

lease together::lease_of(turn& t) noexcept { return lease(&t); }

}  // namespace holdfast::inline v0::detail
