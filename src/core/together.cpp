// Several locks as one: all or none of them.
#include <deque>
#include <optional>
#include <utility>

#include <holdfast/client.hpp>
#include <holdfast/multi_mutex.hpp>

#include "core/blocked.hpp"
#include "core/client_impl.hpp"
#include "core/fail.hpp"
#include "core/lockable_state.hpp"
#include "core/patience.hpp"
#include "core/several.hpp"

namespace holdfast::inline v0::detail {

namespace {

// The caller's thread takes them. It does the work of the store that it waits for, where it can.
class blocked_several final : public several {
 public:
  using several::several;
  void run(std::stop_token stop) {
    const std::stop_callback on_stop(std::move(stop), [this] { withdraw(); });
    for (step_.emplace(); !advance(); step_.emplace()) {
      store().flush();
      core::wait(step_->follower, store());
    }
  }

 private:
  struct step {
    core::parker parker;
    core::follower follower{parker};
  };
  core::follower* thread() noexcept override { return &step_->follower; }
  void step_answered() noexcept override { step_->parker.signal(); }
  std::optional<step> step_;
};

}  // namespace

void together::refuse_none_or_twins(std::span<exclusive_lockable* const> locks) {
  if (locks.empty())
    core::fail(errc::bad_option, "multi_mutex", "no lock is named; name at least one");
  const auto same = [](slot& a, slot& b) {
    const std::string_view store = a.client().place();  // each client of "memory:" has its own
    return &a == &b || (a.name() == b.name() && store == b.client().place() && store != "memory:");
  };
  for (std::size_t i = 0; i < locks.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      slot& home = locks[i]->state_->home;
      if (!same(home, locks[j]->state_->home)) continue;
      home.fail("multi_mutex", {errc::bad_option, "it is given twice; name each lock once"});
    }
}

std::vector<slot*> together::homes_of(std::span<exclusive_lockable* const> locks) {
  if (locks.empty())
    core::fail(errc::bad_option, "acquire", "the multi_mutex was moved from: it has no locks");
  std::vector<slot*> out;
  for (exclusive_lockable* const l : locks) out.push_back(&l->state_->home);
  return out;
}

lease_set together::take(std::span<exclusive_lockable* const> locks, const acquire_options& given,
                         std::size_t size, wait_bound bound, std::stop_token stop,
                         std::error_code* ec) {
  const std::vector<slot*> homes = homes_of(locks);
  const patience how_long(bound, std::move(stop));
  if (ec) ec->clear();
  blocked_several taking(homes, given, size, how_long.bound());
  taking.run(how_long.stop());
  if (!taking.why().code) return set_of(taking);
  how_long.refuse(taking.at(), taking.why(), ec);
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

}  // namespace holdfast::inline v0::detail
