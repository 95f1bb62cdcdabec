#include "tests/sim/redlock/redlock_judge.hpp"

#include <algorithm>

#include "tests/sim/machine/machine.hpp"
#include "tests/sim/machine/network.hpp"
#include "tests/sim/machine/world.hpp"
#include "tests/sim/redlock/redlock_store.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

constexpr std::string_view owner_begin = "hfr:";
constexpr std::size_t owner_size = owner_begin.size() + 32;
constexpr std::int64_t turns_of_number = 1024;

}  // namespace

redlock_judge::redlock_judge(world& w, redlock_store& s)
    : world_(w), store_(s), grants_(static_cast<std::size_t>(w.schedule.locks)) {
  const plan& p = w.schedule;
  clocks_are_set_ = p.has(trouble::clock_forward) || p.has(trouble::clock_back);
  keep_max_ = 100ms + p.delay_max * (p.slow_share > 0 ? 40 : 8);
}

rule_set redlock_judge::rules() const {
  rule_set out{rule::one,  rule::quorum, rule::tokens, rule::turns,    rule::told,
               rule::kept, rule::lease,  rule::owner,  rule::given_up, rule::left};
  out.add(rules_of_the_machine);
  return out;
}

// Waiters that all want it may divide the masters among themselves a few times.
moment redlock_judge::free_max() const {
  const plan& p = world_.schedule;
  return 300ms + store_.node_timeout() * 4 + p.delay_max * 16 + p.ttl / 20;
}

void redlock_judge::unsafe(moment for_so_long) {
  unsafe_until_ = std::max(unsafe_until_, world_.time.now() + for_so_long);
}

void redlock_judge::forget_numbers() {
  numbers_since_ = world_.time.now();
  for (auto& all : grants_) all.clear();
}

// The arguments of a request are never cut.
void redlock_judge::about_to_serve(const pipe& p, std::string_view bytes) {
  for (std::size_t at = bytes.find(owner_begin); at != bytes.npos;
       at = bytes.find(owner_begin, at + owner_begin.size())) {
    if (bytes.size() - at < owner_size) break;
    attempt& a = attempts_[std::string(bytes.substr(at, owner_size))];
    if (a.by) continue;
    a.by = &const_cast<pipe&>(p).owner();
    a.asked = world_.time.now();
  }
}

void redlock_judge::after_server(const pipe* by) {
  if (by) return look(store_.server_of(by->handle()));
  for (int i = 0; i < store_.servers(); ++i) look(i);
}

// What is there, and has not lapsed.
std::string redlock_judge::owner_at(int server, int lock) const {
  const auto seen = store_.at(server).string_at(world_.lock_name(lock));
  const bool has_it = seen && seen->expires_ms >= store_.now_ms(server);
  return has_it ? std::string(seen->text) : std::string();
}

void redlock_judge::look(int server) {
  for (int lock = 0; lock < world_.schedule.locks; ++lock) {
    const auto seen = store_.at(server).string_at(world_.lock_name(lock));
    if (!seen || !world_.judges(rule::owner)) continue;
    const auto found = attempts_.find(std::string(seen->text));
    if (found == attempts_.end())
      return world_.complain(rule::owner, "nobody asked for a lock as " + std::string(seen->text));
    if (seen->expires_ms < store_.now_ms(server)) continue;
    found->second.numbers[static_cast<std::size_t>(server)] = store_.number_at(server);
    judge_lease(server, lock, seen->expires_ms);
  }
}

void redlock_judge::judge_lease(int server, int lock, std::int64_t expires_ms) {
  if (clocks_are_set_ || !world_.judges(rule::lease)) return;
  const auto most = std::chrono::ceil<std::chrono::milliseconds>(world_.lease_max()) + 1ms;
  if (expires_ms - store_.now_ms(server) > most.count())
    world_.complain(rule::lease, owner_at(server, lock) + " has " + world_.lock_name(lock) +
                                     " for longer than was asked for");
}

void redlock_judge::begins(const stay& s) {
  for (const stay& other : stays_)
    if (world_.judges(rule::turns) && other.lock == s.lock && other.where == s.where)
      world_.complain(rule::turns, "a turn began while an earlier one in the process was not left");
  stays_.push_back(s);
  judge_grant(s);
  judge_believers(s.lock);
}

void redlock_judge::judge_grant(const stay& s) {
  auto& all = grants_[static_cast<std::size_t>(s.lock)];
  const attempt& mine = attempts_[s.claim];
  const std::int64_t token = s.turn->token, number = token / turns_of_number;
  const auto same = std::ranges::find(all, s.claim, &grant::owner);
  if (same != all.end()) {
    if (number != same->number || token <= same->token)
      world_.complain(rule::tokens, "a turn's is not above the one before it");
    same->token = token;
    return;
  }
  const auto reached =
      std::ranges::count_if(mine.numbers, [&](std::int64_t n) { return n >= number; });
  if (world_.judges(rule::quorum) && reached < store_.majority())
    world_.complain(rule::quorum, s.claim + " was given " + std::to_string(number) + ", which " +
                                      std::to_string(reached) + " masters had");
  if (mine.asked <= numbers_since_) return;
  const grant g{s.claim, number, token, world_.time.now()};
  judge_number(s.lock, g, mine);
  all.push_back(g);
}

void redlock_judge::judge_number(int lock, const grant& mine, const attempt& asked) {
  if (!world_.judges(rule::tokens)) return;
  for (const grant& other : grants_[static_cast<std::size_t>(lock)]) {
    if (other.number < mine.number) continue;
    const bool is_excused = other.number > mine.number && other.begun > asked.asked &&
                            world_.time.now() < unsafe_until_;
    if (is_excused) continue;
    world_.complain(rule::tokens, mine.owner + " was given " + std::to_string(mine.number) +
                                      ", and " + other.owner + " before it " +
                                      std::to_string(other.number));
  }
}

void redlock_judge::ends(const detail::turn* t) {
  for (stay& s : stays_)
    if (s.turn == t) judge_loss(s);
  std::erase_if(stays_, [&](const stay& s) { return s.turn == t; });
}

std::optional<stay> redlock_judge::withhold(const detail::turn* t) {
  const auto found = std::ranges::find(stays_, t, &stay::turn);
  if (found == stays_.end()) return std::nullopt;
  const stay out = *found;
  stays_.erase(found);
  return out;
}

void redlock_judge::goes_on(const stay& s) { stays_.push_back(s); }

bool redlock_judge::is_kept_by_a_loser(int lock, const machine& where) const {
  return std::ranges::any_of(stays_, [&](const stay& s) {
    return s.lock == lock && s.where == &where && !s.turn->held();
  });
}

void redlock_judge::after_event() {
  world_.excused.advance();
  for (stay& s : stays_) judge_loss(s);
  for (int lock = 0; lock < world_.schedule.locks; ++lock) {
    judge_believers(lock);
    for (int server = 0; server < store_.servers(); ++server) judge_keeping(server, lock);
  }
}

void redlock_judge::judge_loss(stay& s) {
  if (s.where->is_paused() || s.where->is_dead() || !world_.judges(rule::told)) return;
  if (!s.turn->held()) {
    if (!s.lost_since) s.lost_since = world_.time.now();
    attempts_[s.claim].is_lost = true;
  } else if (s.lost_since) {
    world_.complain(rule::told, "a lease of " + s.claim + " was seen as lost, and is held again");
  }
}

void redlock_judge::judge_believers(int lock) {
  if (world_.time.now() < unsafe_until_ || !world_.judges(rule::one)) return;
  const stay* first = nullptr;
  for (const stay& s : stays_) {
    if (s.lock != lock || !s.turn->held()) continue;
    if (first)
      return world_.complain(rule::one, "client " + std::to_string(first->where->number()) +
                                            " and client " + std::to_string(s.where->number()) +
                                            " believe that they hold " + world_.lock_name(lock));
    first = &s;
  }
}

bool redlock_judge::reaches(const machine& m, int server) const {
  return std::ranges::any_of(const_cast<machine&>(m).pipes(), [&](const auto& p) {
    return !p->is_for_renewals() && p->use().asks && p->is_sound() &&
           store_.server_of(p->handle()) == server;
  });
}

bool redlock_judge::is_unwanted(int server, int lock, const std::string& owner) const {
  const auto found = attempts_.find(owner);
  if (found == attempts_.end() || found->second.is_lost) return false;
  const machine& m = *found->second.by;
  if (m.is_dead() || m.is_paused() || !store_.is_well(server)) return false;
  const bool holds = std::ranges::any_of(stays_, [&](const stay& s) {
    return s.lock == lock && s.claim == owner;
  });
  return !holds && world_.users_waiting(lock, m.client) == 0 && reaches(m, server);
}

void redlock_judge::judge_keeping(int server, int lock) {
  const std::string owner = owner_at(server, lock);
  const auto key = std::pair(server, lock);
  if (owner.empty() || !is_unwanted(server, lock, owner)) {
    kept_.erase(key);
    return;
  }
  const moment now = world_.time.now();
  keeping& k = kept_[key];
  if (k.owner != owner) k = {owner, now};
  if (world_.judges(rule::kept) && now - k.since > keep_max_)
    world_.complain(rule::kept, "master " + std::to_string(server) + " has had " +
                                    world_.lock_name(lock) + " for " + owner + " for " +
                                    std::to_string((now - k.since).count() / 1'000'000) +
                                    " ms with no user that wants it");
}

void redlock_judge::gave_up(bool waits_on, moment asked, const base::failure& why) {
  // A slow answer comes after the node-timeout, and an attempt fails that finds no connection yet.
  const bool is_quiet = world_.schedule.is_quiet() && world_.schedule.slow_share == 0 &&
                        asked > world_.time_to_reach();
  const bool is_outage = why.code == errc::unavailable || why.code == errc::no_quorum ||
                         why.code == errc::outcome_unknown;
  if (world_.judges(rule::given_up) && is_outage && (waits_on || is_quiet) &&
      world_.schedule.outage_timeout == 0ms)
    world_.complain(rule::given_up, "a user was refused: " + why.text);
}

void redlock_judge::closes(const machine& m, bool is_clean) {
  if (!is_clean) return world_.complain(rule::left, "close() of a client returned false");
  for (int lock = 0; lock < world_.schedule.locks; ++lock) {
    int left = 0;
    for (int server = 0; server < store_.servers(); ++server) {
      const auto found = attempts_.find(owner_at(server, lock));
      left += found != attempts_.end() && found->second.by == &m && !found->second.is_lost;
    }
    if (left > store_.servers() - store_.majority())
      world_.complain(rule::left, "close() of a client returned true, and it has " +
                                      world_.lock_name(lock) + " at " + std::to_string(left) +
                                      " masters");
  }
}

void redlock_judge::all_closed(bool has_crashes) {
  const std::vector<std::string> left = store_.left(has_crashes);
  if (world_.judges(rule::left) && !left.empty())
    world_.complain(rule::left, "all clients are closed, and " + left.front() + " is at a master");
}

}  // namespace holdfast::sim
