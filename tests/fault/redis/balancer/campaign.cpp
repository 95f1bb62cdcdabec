#include "campaign.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>
#include <string_view>

namespace holdfast::redis_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr const char* options = "?ttl=1500ms&probe=400ms&retry-base=2ms&op-timeout=1s";
constexpr milliseconds ttl = 1500ms, probe = 400ms;
// To connect and to be answered, on an idle machine; and how often a step of it may be late.
constexpr milliseconds handshake = 100ms;
constexpr int late_steps = 4;
constexpr int misled_clients = 2;  // of each lock, beside one that is led right

constexpr contended_lock locks[] = {
    {"string", "string", lock_use::exclusive},
    {"string-rw", "string", lock_use::readers_and_writers},
    {"string-permits", "string", lock_use::permits},
    {"redisson", "redisson", lock_use::exclusive, 20, false},
    {"lua", "lua", lock_use::exclusive, 300},
};

const contended_lock& lock_of(const std::string& name) {
  return *std::ranges::find(locks, name, &contended_lock::name);
}

milliseconds allowed_by(window w, milliseconds late) {
  const milliseconds asked = handshake + late_steps * late;
  switch (w) {
    case window::none: return 0ms;
    case window::handshake:  // nobody may read at once that a connection was cut
    case window::probe: return probe + asked;
    case window::lease: return ttl + asked;
    case window::unbounded: break;
  }
  return milliseconds::max();
}

void print_line(const char* name, const tally& t) {
  const bool is_bounded = t.allowed != milliseconds::max();
  std::printf("%-26s %6d %8llu %9d %8lld %9s %7d %7zu\n", name, t.rounds,
              static_cast<unsigned long long>(t.grants), t.overlaps,
              static_cast<long long>(t.longest.count()),
              is_bounded ? std::to_string(t.allowed.count()).c_str() : "-", t.beyond,
              t.tokens_back);
}

}  // namespace

campaign::campaign(std::uint64_t seed, int servers) : servers_(seed, servers) {
  for (const contended_lock& lock : locks) {
    guarded_counter& counter = counters_.emplace_back();
    for (int i = 0; i < misled_clients; ++i)
      contenders_.emplace_back(servers_.name.url() + options, lock, witness_, counter, ++seed);
    contenders_.emplace_back(servers_.right_name.url() + options, lock, witness_, counter, ++seed);
  }
}

// The clients that do not get their locks within half a minute.
std::string campaign::not_granted_again() {
  std::vector<std::uint64_t> before;
  for (const contender& c : contenders_) before.push_back(c.grants());
  if (eventually([&] {
        return std::ranges::equal(contenders_, before, std::ranges::greater{}, &contender::grants);
      }))
    return {};
  std::string stuck;
  for (std::size_t i = 0; i < contenders_.size(); ++i) {
    if (contenders_[i].grants() > before[i]) continue;
    const std::string key = contenders_[i].lock();
    stuck += key + '/' + std::to_string(i % (misled_clients + 1)) + ' ';
    for (const auto& k : servers_.right_master().command({"KEYS", '*' + key + '*'}).items)
      stuck += k.text + ' ' + to_text(servers_.right_master().command({"PTTL", k.text})) + "; ";
  }
  return stuck;
}

void campaign::play(const fault_kind& kind) {
  (void)oversleeping_.take();
  const instant begin = lease_clock::now();
  kind.play(servers_);
  servers_.heal();
  EXPECT_EQ(not_granted_again(), "") << "after: " << kind.name;
  rounds_.push_back(
      {&kind, begin, lease_clock::now(), allowed_by(kind.allowed, oversleeping_.take())});
  std::ranges::move(witness_.take(), std::back_inserter(stays_));
}

const campaign::round* campaign::round_of(const overlap& o) const {
  const auto found = std::ranges::find_if(rounds_, [&](const round& r) { return o.from < r.end; });
  return found == rounds_.end() ? nullptr : &*found;
}

// Counts the rounds and the locks that match.
template <class Matches>
tally campaign::tally_of(Matches matches) const {
  tally t;
  for (const round& r : rounds_) {
    if (!matches(r, nullptr)) continue;
    ++t.rounds;
    t.allowed = std::max(t.allowed, r.allowed);
  }
  for (const stay& s : stays_) {
    const round* const r = round_of({s.lock, s.from, {}});
    if (!r || !matches(*r, &s.lock)) continue;
    ++t.grants;
  }
  const std::vector<overlap> overlaps = overlaps_in(stays_);
  // Two masters that granted one lock at a time counted its tokens separately.
  const auto had_two_holders = [&](const round* r, const std::string& lock) {
    return std::ranges::any_of(overlaps, [&](const overlap& o) {
      return o.lock == lock && round_of(o) == r;
    });
  };
  for (const stay& s : tokens_back_in(stays_)) {
    const round* const r = round_of({s.lock, s.from, {}});
    if (!r || !matches(*r, &s.lock)) continue;
    ++t.tokens_back;
    t.broken_tokens += lock_of(s.lock).grows_after_a_loss && !had_two_holders(r, s.lock);
  }
  for (const overlap& o : overlaps) {
    const round* const r = round_of(o);
    if (!r || !matches(*r, &o.lock)) continue;
    ++t.overlaps;
    t.longest = std::max(t.longest, o.length);
    t.beyond += o.length > r->allowed;
  }
  return t;
}

tally campaign::total() const {
  return tally_of([](const round&, const std::string*) { return true; });
}

void campaign::print() const {
  std::printf("%-26s %6s %8s %9s %8s %9s %7s %7s\n", "fault", "rounds", "grants", "overlaps",
              "longest", "allowed", "beyond", "tokens");
  for (const fault_kind& kind : fault_kinds())
    print_line(kind.name,
               tally_of([&](const round& r, const std::string*) { return r.kind == &kind; }));
  for (const contended_lock& lock : locks)
    print_line(lock.name, tally_of([&](const round&, const std::string* name) {
                 return !name || *name == lock.name;
               }));
  print_line("all", total());
  std::uint64_t refused = 0;
  for (const contender& c : contenders_) refused += c.refused();
  std::printf("times in ms; the counter refused %llu holders by their tokens\n",
              static_cast<unsigned long long>(refused));
}

}  // namespace holdfast::redis_test
