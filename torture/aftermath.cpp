#include "torture/aftermath.hpp"

#include <holdfast/holdfast.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <thread>

#include "history/checker.hpp"

namespace holdfast::torture {

using namespace std::chrono_literals;
using history::record;
using history::violation;

namespace {

constexpr std::chrono::milliseconds leak_glance = 100ms;
// Longer than every lease and every fault.
constexpr auto wake_bound = 60s;
constexpr std::size_t most_shown = 20;

template <class Lock>
void expect_free(const Lock& lock, const std::string& name, std::chrono::milliseconds bound,
                 const acquire_options& o, std::vector<std::string>& found) {
  std::error_code ec;
  const lease held = lock.try_acquire_for(bound, o, {}, ec);
  if (!held)
    found.push_back("no new client can acquire " + name + " after the end: " + ec.message());
}

// What list() shows, where the backend can.
std::vector<std::string> listed(const deployment& servers) {
  std::error_code ec;
  const client looking = client::open(servers.url(), {}, ec);
  std::vector<std::string> lines;
  const auto holders = looking.list({}, ec);
  if (ec && ec != errc::unsupported) return {"list() fails: " + ec.message()};
  for (const holder& h : holders) lines.push_back("the lock " + h.name + " of " + h.owner);
  return lines;
}

bool is_excused(const violation& v, const std::vector<span_of_time>& excuses) {
  using history::fault;
  constexpr std::array promised_by_the_store = {fault::overlap, fault::token_not_grown,
                                                fault::too_many_permits, fault::group_split};
  if (std::ranges::find(promised_by_the_store, v.what) == promised_by_the_store.end()) return false;
  const auto time = v.second.back;
  return std::ranges::any_of(excuses, [time](const span_of_time& one) {
    return one.from <= time && time <= one.to;
  });
}

void count(const record& r, campaign_result& into) {
  using history::operation;
  using history::result;
  if (r.what == operation::notice) return;
  ++into.calls;
  into.grants += r.what == operation::acquire && r.outcome == result::ok ? 1 : 0;
  into.losses += r.what == operation::check && r.outcome == result::lost ? 1 : 0;
  if (r.what != operation::write) return;
  ++into.writes;
  into.refused_writes += r.outcome == result::refused ? 1 : 0;
}

}  // namespace

std::vector<std::string> locks_not_released(const deployment& servers,
                                            std::chrono::milliseconds bound) {
  std::vector<std::string> found;
  std::error_code ec;
  const client fresh = client::open(servers.url(), {}, ec);
  if (ec) return {"no new client can be opened after the end: " + ec.message()};
  for (std::size_t i = 0; i < mutex_count; ++i)
    expect_free(fresh.mutex(names.mutex(i)), names.mutex(i), bound, {}, found);
  expect_free(fresh.mutex(names.recursive()), names.recursive(), bound, {}, found);
  if (fresh.features().shared)
    for (std::size_t i = 0; i < shared_count; ++i)
      expect_free(fresh.shared_mutex(names.shared(i)), names.shared(i), bound, {}, found);
  if (fresh.features().permits)
    expect_free(fresh.semaphore(names.permits(), permit_count), names.permits(), bound,
                {.permits = permit_count}, found);
  return found;
}

std::vector<std::string> things_left(deployment& servers, std::chrono::milliseconds bound) {
  const auto until = std::chrono::steady_clock::now() + bound;
  std::vector<std::string> found;
  do {
    found = listed(servers);
    if (found.empty()) found = servers.left_behind();
    if (found.empty()) return {};
    std::this_thread::sleep_for(leak_glance);
  } while (std::chrono::steady_clock::now() < until);
  for (std::string& line : found) line = "left in the store: " + line;
  return found;
}

void judge_history(const std::string& folder, const deployment& servers,
                   const std::vector<span_of_time>& excuses, campaign_result& into) {
  std::error_code ec;
  const auto kind = client::open(servers.url(), {}, ec).features().reader_tokens;
  const history::check_options options{.wake_bound = wake_bound,
                                       .lapse = 2 * lease_ttl,
                                       .readers_share_a_token = kind != reader_tokens::own};
  std::vector<record> all;
  for (const auto& file : std::filesystem::directory_iterator(folder))
    if (file.path().extension() == ".history")
      std::ranges::move(history::read_history(file.path()).records, std::back_inserter(all));
  for (const record& r : all) count(r, into);
  std::size_t shown = 0, found = 0;
  for (const violation& v : history::check(all, options)) {
    if (is_excused(v, excuses)) {
      ++into.excused;
    } else if (++found, shown < most_shown) {
      into.violations.push_back(to_text(v));
      ++shown;
    }
  }
  if (found > shown)
    into.violations.push_back(std::to_string(found - shown) + " more violations in the history");
}

}  // namespace holdfast::torture
