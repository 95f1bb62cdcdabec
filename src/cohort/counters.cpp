#include "cohort/counters.hpp"

#include <holdfast/error.hpp>

#include <algorithm>
#include <bit>
#include <new>

namespace holdfast::cohort {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

// Numbers for the threads of the process; two living threads never have the same one. The next
// owner of a number sees what the last owner wrote.
constexpr unsigned numbers = 64, no_number = numbers, not_asked = numbers + 1;
constinit std::atomic<std::uint64_t> taken{0};
constinit thread_local unsigned my_number = not_asked;

struct number_of_this_thread {
  number_of_this_thread() noexcept {
    std::uint64_t seen = taken.load(relaxed);
    do {
      my_number = static_cast<unsigned>(std::countr_one(seen));
      if (my_number == no_number) return;
    } while (!taken.compare_exchange_weak(seen, seen | std::uint64_t{1} << my_number,
                                          std::memory_order_acquire, relaxed));
  }
  ~number_of_this_thread() {
    const unsigned mine = my_number;
    my_number = no_number;  // later destructors of this thread count on the shared page
    if (mine < numbers) taken.fetch_and(~(std::uint64_t{1} << mine), std::memory_order_release);
  }
  number_of_this_thread(const number_of_this_thread&) = delete;
  number_of_this_thread& operator=(const number_of_this_thread&) = delete;
};

unsigned ask_for_number() noexcept {
  static thread_local number_of_this_thread mine;
  return my_number;
}

std::size_t bucket_of(duration d) noexcept {
  const auto& bounds = duration_histogram::bounds;
  const auto at = std::find_if(bounds.begin(), bounds.end(), [d](auto b) { return d <= b; });
  return static_cast<std::size_t>(at - bounds.begin());
}

}  // namespace

counters::~counters() {
  for (const auto& p : own_) delete p.load(relaxed);
}

counters::place counters::here() noexcept {
  const unsigned n = my_number == not_asked ? ask_for_number() : my_number;
  if (n >= own_pages) return {shared_, false};
  page* mine = own_[n].load(relaxed);
  if (!mine) {
    mine = new (std::nothrow) page;
    if (!mine) return {shared_, false};
    own_[n].store(mine, std::memory_order_release);
  }
  return {*mine, true};
}

void counters::place::add(number& n, std::uint64_t count) const noexcept {
  if (is_own) {
    n.store(n.load(relaxed) + count, relaxed);
  } else {
    n.fetch_add(count, relaxed);
  }
}

void counters::count(counter which) noexcept {
  const place p = here();
  p.add(p.of.counts[which], 1);
}

void counters::failed(std::error_code why) noexcept {
  if (why == outcome::busy) return count(busy);
  if (why == outcome::unavailable) return count(errors_unavailable);
  count(why == outcome::lost ? errors_lost : errors_usage);
}

void counters::waited(lock_mode mode, duration d) noexcept {
  note(static_cast<std::size_t>(mode), d);
}

void counters::held(lock_mode mode, duration d) noexcept {
  note(modes + static_cast<std::size_t>(mode), d);
}

void counters::lagged(duration d) noexcept { note(lag, d); }

void counters::note(std::size_t which, duration d) noexcept {
  const place p = here();
  histogram& h = p.of.histograms[which];
  p.add(h.buckets[bucket_of(d)], 1);
  if (d > duration::zero()) p.add(h.sum, static_cast<std::uint64_t>(d.count()));
}

metrics counters::read() const {
  metrics m;
  m.counted = true;
  shared_.add_to(m);
  for (const auto& p : own_)
    if (const page* const own = p.load(std::memory_order_acquire)) own->add_to(m);
  return m;
}

void counters::page::add_to(metrics& m) const noexcept {
  std::uint64_t* const to[counter_count] =
      {&m.busy,          &m.errors_unavailable, &m.errors_lost,        &m.errors_usage,
       &m.grants,        &m.grants_handed,      &m.local_handoffs,     &m.shares_joined,
       &m.linger_reuses, &m.renewals_sent,      &m.renewals_confirmed, &m.doubts,
       &m.losses};
  for (std::size_t i = 0; i < counts.size(); ++i) *to[i] += counts[i].load(relaxed);
  duration_histogram* const into[lag + 1] = {&m.waits.exclusive, &m.waits.shared, &m.waits.permit,
                                             &m.holds.exclusive, &m.holds.shared, &m.holds.permit,
                                             &m.renewal_lag};
  for (std::size_t i = 0; i < histograms.size(); ++i) {
    const histogram& from = histograms[i];
    for (std::size_t b = 0; b < from.buckets.size(); ++b)
      into[i]->buckets[b] += from.buckets[b].load(relaxed);
    into[i]->sum += duration(static_cast<duration::rep>(from.sum.load(relaxed)));
  }
}

}  // namespace holdfast::cohort
