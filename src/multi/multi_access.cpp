// Several locks of one caller: acquired on its thread, all or none of them, extended and released.
#include <deque>
#include <optional>
#include <utility>

#include <holdfast/client.hpp>
#include <holdfast/detail/multi_access.hpp>
#include <holdfast/multi_mutex.hpp>

#include "api/lockable_state.hpp"
#include "api/wait_terms.hpp"
#include "base/fail.hpp"
#include "cohort/blocked.hpp"
#include "cohort/checked_request.hpp"
#include "cohort/client_impl.hpp"
#include "multi/multi_acquire.hpp"

namespace holdfast::inline v0::detail {

namespace {

// Not a member of its user: Clang takes nested initialisers in std::optional for incomplete.
struct blocked_step {
  base::parker parker;
  base::follower follower{parker};
};

// Runs the steps on the caller's thread, which drives the awaited store's I/O where it can.
class blocked_multi_acquire final : public multi_acquire {
 public:
  using multi_acquire::multi_acquire;
  void run(std::stop_token stop) {
    const std::stop_callback on_stop(std::move(stop), [this] { withdraw(); });
    for (step_.emplace(); !advance(); step_.emplace()) {
      connection().flush();
      cohort::wait(step_->follower, driver());
    }
  }

 private:
  base::follower* thread() noexcept override { return &step_->follower; }
  void step_answered() noexcept override { step_->parker.signal(); }
  std::optional<blocked_step> step_;
};

}  // namespace

void multi_access::refuse_none_or_twins(std::span<exclusive_lockable* const> locks) {
  if (locks.empty())
    base::fail(errc::bad_option, "multi_mutex", "no lock is named; name at least one");
  const auto same = [](local_lock& a, local_lock& b) {
    // Each client of "memory:" has a store of its own.
    const std::string_view store = a.client().place();
    return &a == &b || (a.name() == b.name() && store == b.client().place() && store != "memory:");
  };
  for (std::size_t i = 0; i < locks.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      local_lock& home = locks[i]->state_->home;
      if (!same(home, locks[j]->state_->home)) continue;
      home.fail("multi_mutex", {errc::bad_option, "it is given twice; name each lock once"});
    }
}

std::vector<std::pair<local_lock*, acquire_options>> multi_access::asked_of(
    std::span<exclusive_lockable* const> locks, const acquire_call& c) {
  if (locks.empty())
    base::fail(errc::bad_option, "acquire", "the multi_mutex was moved from: it has no locks");
  std::vector<std::pair<local_lock*, acquire_options>> out;
  for (const exclusive_lockable* const l : locks)
    out.emplace_back(&l->state_->home, options_of(c, l->state_->defaults.get()));
  return out;
}

const std::vector<exclusive_lockable*>& multi_access::locks_of(const multi_mutex& m) noexcept {
  return m.members_;
}

named_locks::named_locks(const client& c, const lock_names& names) {
  for (const std::string& name : names) all_.push_back(&locks_.emplace_back(c, name));
  multi_access::refuse_none_or_twins(all_);
}

lease_set multi_access::acquire_impl(std::span<exclusive_lockable* const> locks, acquire_call c) {
  const auto asked = asked_of(locks, c);
  const wait_terms how_long(c.bound, std::move(c.stop));
  if (c.ec) c.ec->clear();
  blocked_multi_acquire taking(asked, how_long.bound());
  taking.run(how_long.stop());
  if (!taking.why().code) return set_of(taking);
  how_long.refuse(taking.at(), taking.why(), c.ec);
  return {};
}

void multi_access::extend(std::span<const lease> all, std::chrono::milliseconds ttl,
                          std::error_code* ec) {
  if (ec) ec->clear();
  base::failure first;
  local_lock* at = nullptr;
  const auto note = [&](local_lock& home, base::failure why) {
    if (!why.code || at) return;
    first = std::move(why);
    at = &home;
  };
  struct renewal {
    local_lock* home;
    cohort::blocked_confirmation answer;
  };
  std::deque<renewal> begun;
  for (const lease& l : all) {
    turn& t = *l.turn_;
    base::failure why = extension_fault(&t, ttl);
    if (why.code) {
      note(t.home, std::move(why));
      continue;
    }
    renewal& r = begun.emplace_back();
    r.home = &t.home;
    t.home.begin_extend(t, ttl, r.answer);
  }
  for (renewal& r : begun) {
    cohort::wait(r.answer.parker, r.home->driver());
    note(*r.home, std::move(r.answer.why));
  }
  if (at) at->fail_or_set("extend", std::move(first), ec);
}

std::vector<lock_error::details> multi_access::details_of(std::string_view operation,
                                                          std::span<const lease> all) {
  std::vector<lock_error::details> out;
  out.reserve(all.size());
  for (const lease& l : all) {
    local_lock& home = l.turn_->home;
    out.push_back(
        {std::string(operation), home.name(), home.client().text(), home.why_lost(*l.turn_)});
  }
  return out;
}

// Begins all releases, then waits for their answers.
std::error_code multi_access::release(std::vector<lease>& all, std::size_t* failed) noexcept {
  std::error_code first;
  std::size_t index_of_first = all.size();
  const auto note = [&](std::error_code code, std::size_t index) {
    if (!code || index >= index_of_first) return;
    first = code;
    index_of_first = index;
  };
  struct pending_release {
    std::size_t index;
    local_lock* home;
    std::error_code lost;
    cohort::blocked_confirmation answer;
  };
  std::deque<pending_release> leaving;
  for (std::size_t i = 0; i < all.size(); ++i) {
    lease& l = all[i];
    const std::error_code lost = l.status();
    turn* const t = std::exchange(l.turn_, nullptr);
    const bool is_last =
        t && t->is_of_this_process() && t->leases.fetch_sub(1, std::memory_order_acq_rel) == 1;
    if (!is_last) {
      note(lost, i);
      continue;
    }
    pending_release& p = leaving.emplace_back();
    p.index = i;
    p.home = &t->home;
    p.lost = lost;
    p.home->begin_release(*t, p.answer);
  }
  for (pending_release& p : leaving) note(p.home->finish_release(p.answer, p.lost).code, p.index);
  all.clear();
  if (failed) *failed = index_of_first;
  return first;
}

}  // namespace holdfast::inline v0::detail
