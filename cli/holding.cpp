#include "cli/holding.hpp"

#include <holdfast/error.hpp>
#include <holdfast/options.hpp>

#include <algorithm>

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using most_of_wait = std::optional<nanoseconds>;

acquire_options options_of(const run_arguments& arguments) {
  acquire_options out;
  if (arguments.ttl) out.ttl = std::chrono::ceil<milliseconds>(*arguments.ttl);
  if (arguments.no_renew) out.renew = renewal::manual;
  if (arguments.note) out.note = *arguments.note;
  out.permits = arguments.taken.value_or(1);
  return out;
}

// The verbs of a share under the names that all the others have.
struct shares {
  const shared_mutex& of;
  lease acquire(const acquire_options& o, std::stop_token s) const {
    return of.acquire_shared(o, std::move(s));
  }
  lease try_acquire(const acquire_options& o) const { return of.try_acquire_shared(o); }
  lease try_acquire_for(nanoseconds d, const acquire_options& o, std::stop_token s) const {
    return of.try_acquire_shared_for(d, o, std::move(s));
  }
};

template <class Lock>
holding take_from(const Lock& lock, const run_arguments& arguments, most_of_wait limit,
                  std::stop_token stop) {
  const acquire_options options = options_of(arguments);
  if (!limit) return holding(lock.acquire(options, std::move(stop)));
  if (limit->count() == 0) return holding(lock.try_acquire(options));
  return holding(lock.try_acquire_for(*limit, options, std::move(stop)));
}

holding take_all(const client& where, const run_arguments& arguments, most_of_wait limit,
                 std::stop_token stop) {
  std::vector<mutex> locks;
  for (const std::string& name : arguments.names) locks.push_back(where.mutex(name));
  std::vector<exclusive_lockable*> all;
  for (mutex& lock : locks) all.push_back(&lock);
  return take_from(multi_mutex(std::move(all)), arguments, limit, std::move(stop));
}

}  // namespace

holding take(const client& where, const run_arguments& arguments, most_of_wait limit,
             std::stop_token stop) {
  const std::string& name = arguments.names.front();
  if (arguments.names.size() > 1) return take_all(where, arguments, limit, std::move(stop));
  if (arguments.shared) {
    const shared_mutex lock = where.shared_mutex(name);
    return take_from(shares{lock}, arguments, limit, std::move(stop));
  }
  if (arguments.permits)
    return take_from(where.semaphore(name, *arguments.permits), arguments, limit, std::move(stop));
  return take_from(where.mutex(name), arguments, limit, std::move(stop));
}

std::span<const lease> holding::leases() const noexcept {
  if (one_) return {&one_, 1};
  return several_.members();
}

bool holding::held() const noexcept {
  return *this && std::ranges::all_of(leases(), [](const lease& l) { return l.held(); });
}

bool holding::is_asked_for() const {
  return std::ranges::any_of(leases(),
                             [](const lease& l) { return l.revocation_token().stop_requested(); });
}

std::string holding::why_lost() const {
  for (const lease& l : leases()) {
    try {
      l.check();
    } catch (const lock_error& e) {
      return e.detail().empty() ? e.code().message() : std::string(e.detail());
    }
  }
  return {};
}

lease_clock::time_point holding::expires() const noexcept {
  auto earliest = lease_clock::time_point::max();
  for (const lease& l : leases()) earliest = std::min(earliest, l.expires());
  return earliest;
}

std::string holding::tokens() const {
  std::string out;
  for (const lease& l : leases())
    out.append(out.empty() ? "" : ",").append(std::to_string(l.token()));
  return out;
}

std::vector<int> holding::descriptors() const {
  std::vector<int> out;
  for (const lease& l : leases())
    if (l.native_handle() >= 0) out.push_back(l.native_handle());
  return out;
}

void holding::confirm(nanoseconds ttl) noexcept {
  std::error_code lost;  // a loss is noticed and reported before the command starts
  const auto whole = std::chrono::ceil<milliseconds>(ttl);
  one_ ? one_.extend(whole, lost) : several_.extend(whole, lost);
}

void holding::release() { one_ ? one_.release() : several_.release(); }

}  // namespace holdfast::cli
