// The judge's view of the users that hold a lock, by the turns they were given.
#include <algorithm>

#include "cohort/claim_record.hpp"
#include "tests/sim/judge/judge.hpp"
#include "tests/sim/machine/machine.hpp"
#include "tests/sim/machine/world.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

constexpr moment report_max = 20ms;

}  // namespace

void judge::begins(const stay& s) {
  for (const stay& other : stays_)
    if (world_.judges(rule::turns) && other.lock == s.lock && other.where == s.where &&
        (other.how == lock_mode::exclusive || s.how == lock_mode::exclusive))
      world_.complain(rule::turns, "a turn began while an earlier one in the process was not left");
  judge_order_in_process(s);
  stays_.push_back(s);
  lock_state& l = locks_[static_cast<std::size_t>(s.lock)];
  const auto found = l.ever.find(s.claim);
  // A reader may follow a writer of its process under the same grant.
  if (s.how == lock_mode::exclusive || found == l.ever.end()) return judge_token(l, stays_.back());
  // Past the end of its lease a late question may have brought it into another group.
  membership& m = found->second;
  m.judged_from = std::max(m.judged_from, elsewhere_until(*s.where));
  // A reader of a connection may have drawn its number after it was let in.
  const bool is_known = m.number != 0 || can_.life != seam::lifetime::connection;
  const std::int64_t number = s.turn->token / 1024;
  const bool is_expected = number == m.number || (number != 0 && number == m.kept);
  if (s.how == lock_mode::shared && is_known && world_.judges(rule::group) && !is_expected &&
      world_.time.now() >= m.judged_from) {
    world_.complain(rule::group, "a reader was given " + std::to_string(number) +
                                     ", its group has " + std::to_string(m.number));
  }
}

bool judge::fits(const lock_state& l, const ownership& mine, std::int64_t number) noexcept {
  return std::all_of(l.owners.begin(), l.owners.end(), [&](const ownership& o) {
    const bool counts = &o >= l.owners.data() + l.counted_anew;
    if (&o == &mine || o.number == 0 || !counts) return true;
    return &o < &mine ? o.number < number : o.number > number;
  });
}

// A client that uses nothing when its probe is due does not ask where the name leads.
void judge::note_use(const machine& m) {
  use& of = uses_[&m];
  const moment now = world_.time.now();
  const bool holds = std::ranges::any_of(stays_, [&](const stay& s) { return s.where == &m; });
  if (!holds && now - of.last > world_.time_to_reach()) of.since = now;
  of.last = now;
}

moment judge::stray_until(const machine& m) const {
  const auto found = uses_.find(&m);
  const bool has_moved = world_.schedule.tick == 0ms && moved_until_ > 0ns;
  if (!has_moved || found == uses_.end()) return moved_until_;
  return std::max(moved_until_, found->second.since + world_.time_to_reach());
}

// A claim that has a lock at the server that leads may have been granted it by the one before.
moment judge::elsewhere_until(machine& m) const {
  return world_.asks_other_server(m) ? stray_until(m) : 0ns;
}

// Granted by the server that led before, and not known to the one that does.
bool judge::notes_stray(lock_state& l, stay& s) {
  const moment until = stray_until(*s.where);
  if (world_.time.now() >= until) return false;
  s.place = l.owners.size();
  l.owners.push_back({s.claim, world_.time.now(), 0, 0, until, true, s.turn->token / 1024});
  return true;
}

void judge::find_place(lock_state& l, stay& s) {
  const auto mine = std::find_if(l.owners.rbegin(), l.owners.rend(),
                                 [&](const ownership& o) { return o.claim == s.claim; });
  if (mine == l.owners.rend() && notes_stray(l, s)) return;
  if (mine == l.owners.rend())
    return world_.complain(rule::one, s.claim + " was granted " + l.key + ", and never had it");
  s.place = static_cast<std::size_t>(&*mine - l.owners.data());
  mine->judged_from = std::max(mine->judged_from, elsewhere_until(*s.where));
}

// A grant may arrive when its ownership has passed already.
void judge::judge_token(lock_state& l, stay& s) {
  if (!world_.judges(rule::tokens)) return find_place(l, s);
  const std::int64_t number = s.turn->token / 1024;
  for (auto o = l.owners.rbegin(); o != l.owners.rend(); ++o) {
    if (o->claim != s.claim) continue;
    s.place = static_cast<std::size_t>(&*o - l.owners.data());
    if (s.place < l.counted_anew || o->is_stray) return;
    if (o->number == number) {
      const bool is_next =
          s.how == lock_mode::shared ? s.turn->token >= o->token : s.turn->token > o->token;
      if (!is_next) world_.complain(rule::tokens, "a turn's is not above the one before it");
      o->token = s.turn->token;
      return;
    }
    if (o->number != 0 || !fits(l, *o, number)) continue;
    o->number = number;
    o->token = s.turn->token;
    o->judged_from = std::max(o->judged_from, elsewhere_until(*s.where));
    return;
  }
  if (notes_stray(l, s)) return;
  world_.complain(rule::tokens,
                  s.claim + " was given " + std::to_string(number) +
                      ", which is not in the order in which it and others had the lock");
}

void judge::judge_order_in_process(const stay& s) {
  if (s.asked < 0ns || world_.schedule.locks_are != kind::mutex) return;
  if (world_.judges(rule::passed) && world_.first_to_wait(*s.where, s.lock) < s.asked)
    world_.complain(rule::passed, "a user has the lock, and one of its process has waited longer");
}

void judge::awaits_notices(const detail::turn* t, std::stop_token doubt, std::stop_token loss) {
  for (stay& s : stays_) {
    if (s.turn != t) continue;
    s.doubt = doubt;
    s.loss = loss;
    s.notified_from = world_.time.now();
  }
}

// A holder is notified a tenth of its ttl before its deadline, and earlier in the window of a grant
// that was handed over.
void judge::judge_doubt(stay& s) const {
  if (!s.turn->of) return;
  const base::time_point end = s.turn->deadline.load();
  if (end < s.deadline) s.earlier_since = world_.time.now();
  s.deadline = end;
  if (!s.doubt.stop_possible() || s.doubt.stop_requested() || end == base::never) return;
  const base::duration window = s.turn->of->grant.provisional_left();
  const base::duration notice = window > 0ns ? window / 2 : s.turn->confirmed_ttl() / 10;
  const moment due = std::max(
      {s.where->when(end - notice), s.where->resumed_at(), s.notified_from, s.earlier_since});
  if (world_.time.now() - due > report_max)
    world_.complain(rule::told,
                    "a doubt about the lease of " + s.claim + " was not reported in time");
}

// By the clock of its machine; while that is stopped no user sees anything.
void judge::judge_reports(stay& s) {
  if (s.where->is_paused() || s.where->is_dead() || !world_.judges(rule::told)) return;
  const moment now = world_.time.now();
  if (s.turn->held()) {
    if (s.lost_since)
      world_.complain(rule::told, "a lease of " + s.claim + " was seen as lost, and is held again");
    return judge_doubt(s);
  }
  if (!s.lost_since) s.lost_since = now;
  const moment since = std::max(*s.lost_since, s.where->resumed_at());
  if (s.loss.stop_possible() && !s.loss.stop_requested() && now - since > report_max)
    world_.complain(rule::told, "the loss of " + s.claim + " was not reported for " +
                                    std::to_string((now - since).count() / 1'000'000) + " ms");
}

void judge::note_released(lock_state& l, std::string_view claim) { l.released.emplace(claim); }

// An id is drawn for each acquire.
void judge::judge_once(const lock_state& l, std::string_view claim) {
  const plan& p = world_.schedule;
  const bool may_be_repeated = p.kill_forbidden || p.has(trouble::broken) || may_have_old_data_;
  if (!may_be_repeated && world_.judges(rule::once) && l.released.contains(std::string(claim)))
    world_.complain(rule::once, std::string(claim) + " was released, and got " + l.key + " again");
}

std::optional<stay> judge::withhold(const detail::turn* t) {
  const auto found =
      std::find_if(stays_.begin(), stays_.end(), [&](const stay& s) { return s.turn == t; });
  if (found == stays_.end()) return std::nullopt;
  const stay out = *found;
  stays_.erase(found);
  return out;
}

void judge::goes_on(const stay& s) { stays_.push_back(s); }

void judge::ends(const detail::turn* t) {
  std::erase_if(stays_, [&](const stay& s) { return s.turn == t; });
}

void judge::broke(int lock, const std::string& owner, moment begun) {
  const lock_state& l = locks_[static_cast<std::size_t>(lock)];
  if (may_have_old_data_ || !world_.judges(rule::broken)) return;
  if (l.owner != owner || l.owners.empty()) return;
  if (l.owners.back().since < begun)
    world_.complain(rule::broken, owner + " has " + l.key + " though it was broken");
}

void judge::wrote(int lock, const std::string& claim, std::int64_t token, bool is_admitted) {
  if (!world_.judges(rule::guarded)) return;
  lock_state& l = locks_[static_cast<std::size_t>(lock)];
  if (is_admitted && token < l.admitted)
    world_.complain(rule::guarded, "a write of " + claim + " landed after one with a newer token");
  if (is_admitted) l.admitted = std::max(l.admitted, token);
  const std::string_view owner = now_owner(l);
  if (is_admitted || l.counted_anew > 0 || l.owners.empty()) return;
  const ownership& last = l.owners.back();
  // Each of two servers behind one name counts by itself, where no replica confirms what counts.
  const plan& p = world_.schedule;
  const bool is_one_count = !p.has_two_servers_of_one_name() || p.replicas > 0;
  const bool is_judged = is_one_count && world_.time.now() >= last.judged_from;
  const bool has_it = view_->kind_of(owner) == owner_is::claim && view_->claim_in(owner) == claim;
  // Its next turn may have written already.
  if (is_judged && has_it && last.claim == claim && last.token == token)
    world_.complain(rule::guarded, claim + " has " + l.key + ", and its write was refused");
}

bool judge::is_kept_by_a_loser(int lock, const machine& where) const {
  return std::any_of(stays_.begin(), stays_.end(), [&](const stay& s) {
    return s.lock == lock && s.where == &where && s.how != lock_mode::permit && !s.turn->held();
  });
}

// A user that believes it holds the lock has it, and no loss was reported to one that has it.
void judge::judge_belief(const lock_state& l, const stay& s, bool has_it) {
  const auto client = [&] { return "client " + std::to_string(s.where->number()); };
  const bool is_alone = view_->kind_of(now_owner(l)) == owner_is::claim;
  const std::string_view id = is_alone ? now_owner(l) : std::string_view(s.claim);
  if (world_.judges(rule::lost) && has_it && detail::turn::is_loss(s.turn->now) &&
      judges_losses(l, s) && !view_->is_given_up(l.number, id) &&
      s.where->now() < s.turn->deadline.load())
    return world_.complain(rule::lost,
                           client() + " got the loss reported of " + l.key + ", and has it");
  if (world_.judges(rule::one) && s.turn->held() && !has_it)
    world_.complain(rule::one, client() + " believes that it holds " + l.key + " as " + s.claim +
                                   "; at the server it is \"" + std::string(now_owner(l)) + '"');
}

// An old queue that came back may hand a lock to a claim whose loss was rightly reported.
bool judge::judges_losses(const lock_state& l, const stay& s) const {
  const plan& p = world_.schedule;
  if (clock_leaps_ || p.has(trouble::other_bounds)) return false;
  const auto stood = believes_until_.find(s.where);
  if (stood != believes_until_.end() && s.lost_since && *s.lost_since < stood->second) return false;
  const bool is_old = p.has(trouble::restart_saved) || p.has(trouble::writes_lost);
  if (p.locks_are != kind::mutex && is_old) return false;
  if (p.servers == 1 || p.tick > 0ms) return true;
  // A name that is led back may lead to a server that was started without the data.
  if (p.has(trouble::name_led_back) && world_.excused.covers(*s.where)) return false;
  const bool is_the_same_grant = s.place + 1 == l.owners.size();
  const bool was_reported_since = !s.lost_since || *s.lost_since >= moved_until_;
  return s.how == lock_mode::exclusive && is_the_same_grant && was_reported_since;
}

// What a user believes until then may be of before something unsafe.
moment judge::judged_from(const lock_state& l, const stay& s) const {
  if (world_.time.now() < taken_until_) return moment::max();
  const auto stood = believes_until_.find(s.where);
  if (s.where->clock_stands() ||
      (stood != believes_until_.end() && world_.time.now() < stood->second))
    return moment::max();
  if (s.how != lock_mode::exclusive)
    if (const auto member = l.ever.find(s.claim); member != l.ever.end())
      return member->second.judged_from;
  return l.owners.empty() ? moment::max() : l.owners[s.place].judged_from;
}

void judge::judge_holders(const lock_state& l) {
  const bool is_mutex = world_.schedule.locks_are == kind::mutex;
  const std::string_view owner = now_owner(l);
  const bool is_alone = view_->kind_of(owner) == owner_is::claim;
  int writers = 0, readers = 0, permits = 0;
  for (const stay& s : stays_) {
    if (s.lock != l.number || world_.time.now() < judged_from(l, s)) continue;
    const bool alone = s.how == lock_mode::exclusive;
    const bool is_writer = is_alone && view_->claim_in(owner) == s.claim;
    const bool has_it = is_writer || (!alone && is_member(l, s.claim));
    judge_belief(l, s, has_it);
    if (!world_.is_content()) return;
    if (!s.turn->held()) continue;
    (alone ? writers : readers) += s.how == lock_mode::permit ? 0 : 1;
    permits += s.permits;
  }
  if (is_mutex && writers > 1)
    return world_.complain(rule::one, "two believe that they hold " + l.key);
  if (!world_.judges(rule::together)) return;
  if (writers > 1 || (writers > 0 && readers > 0))
    world_.complain(rule::together, std::to_string(writers) + " writers and " +
                                        std::to_string(readers) +
                                        " readers believe that they hold " + l.key);
  if (permits > world_.schedule.permits)
    world_.complain(rule::together, std::to_string(permits) + " permits are believed to be had");
}

}  // namespace holdfast::sim
