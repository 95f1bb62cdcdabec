#include "tests/sim/machine/user_of_several.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "tests/sim/machine/machine.hpp"
#include "tests/sim/machine/world.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

user_of_several::user_of_several(world& w, machine& m, std::vector<detail::local_lock*> all,
                                 int number)
    : user(w, m, number), all_(std::move(all)) {}

// Two of them or all, in any order.
void user_of_several::draw_wanted() {
  dice& d = world_.chance;
  wanted_.clear();
  for (int i = 0; i < static_cast<int>(all_.size()); ++i) wanted_.push_back(i);
  for (std::size_t i = wanted_.size(); i > 1; --i) std::swap(wanted_[i - 1], wanted_[d.below(i)]);
  if (wanted_.size() > 2 && d.chance(0.6)) wanted_.resize(2);
}

// The first in the order of names that it does not have; -1: it has all.
int user_of_several::awaited_in_turn() const noexcept {
  int first = -1;
  for (std::size_t i = 0; i < wanted_.size(); ++i)
    if (!turns_[i] && (first < 0 || wanted_[i] < first)) first = wanted_[i];
  return first;
}

// When the time is over between two locks, one attempt for each that is left. Where no trouble is
// the server's or a connection's, each is answered.
moment user_of_several::last_attempt_max() const {
  const plan& p = world_.schedule;
  const bool is_answered = std::ranges::all_of(p.faults, [](const fault& f) {
    return f.what == trouble::pause || f.what == trouble::crash || f.what == trouble::foreign ||
           f.what == trouble::foreign_forever || f.what == trouble::broken;
  });
  if (!is_answered || p.parts_wait || p.kill_forbidden || p.parked_share > 0) return attempt_max();
  return p.delay_max * (p.slow_share > 0 ? 80 : 8) * p.locks;
}

void user_of_several::ask() {
  draw_wanted();
  const detail::wait_bound how = how_long(last_attempt_max());
  std::vector<detail::multi_acquire::asked> asked;
  std::string names;
  acquire_options options;
  options.ttl = ttl_;
  for (const int lock : wanted_) {
    asked.emplace_back(all_[static_cast<std::size_t>(lock)], options);
    names += ' ' + world_.lock_name(lock);
  }
  record(event::user_asks_for_all, "requests all of" + names, names);
  turns_.assign(wanted_.size(), nullptr);
  grants_.assign(wanted_.size(), {});
  taking_.emplace(*this, asked, how);
  if (how.what == detail::wait_bound::kind::one_attempt) attempts();
  if (withdraws()) {
    after(world_.chance.between(0ns, world_.schedule.ttl * 3 / 2), [this] {
      if (!taking_) return;
      record(event::user_withdraws, "withdraws");
      taking_->withdraw();
    });
  }
  go_on();
}

// The claim and the token: one claim can have several turns, and a counter that was lost with the
// server's data can give two grants the same token.
std::string user_of_several::grant_of(const detail::turn& t) const {
  return world_.store->claim_of(t) + ' ' + std::to_string(t.token);
}

// Inside the core: what follows comes as an event of its own.
void user_of_several::step_answered() noexcept {
  if (over_) return;
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    turns_[i] = taking_->had(i);
    if (!turns_[i] || grant_of(*turns_[i]) == grants_[i]) continue;
    grants_[i] = grant_of(*turns_[i]);
    holds(*turns_[i], wanted_[i], lock_mode::exclusive, 0);
  }
  after(0ns, [this] { go_on(); });
}

// Its locks may be released meanwhile and granted to others.
bool user_of_several::advance() {
  const std::vector<std::string> grants = grants_;
  std::vector<std::optional<stay>> before;
  for (const detail::turn* const t : turns_) before.push_back(world_.watch->withhold(t));
  const bool is_over = taking_->advance();
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    turns_[i] = taking_->had(i);
    if (before[i] && turns_[i] && grant_of(*turns_[i]) == grants[i])
      world_.watch->goes_on(*before[i]);
  }
  return is_over;
}

void user_of_several::go_on() {
  if (!advance()) return;
  turns_ = taking_->take();
  if (turns_.empty()) {
    refused(taking_->why());
    taking_.reset();
    return goes_on();
  }
  taking_.reset();
  record(event::user_has_all, "has all of them");
  for (detail::turn* const t : turns_) awaits_notices(*t);
  --rounds_left_;
  after(world_.chance.between(0ns, world_.hold_max()), [this] { leave(); });
}

void user_of_several::leave() {
  record(event::user_leaves, "leaves");
  for (detail::turn* const t : std::exchange(turns_, {})) {
    world_.watch->ends(t);
    t->home.unlock(*t);
  }
  goes_on();
}

void user_of_several::end() noexcept {
  if (over_) return;
  over_ = true;
  if (taking_) {
    for (const detail::turn* const t : turns_) world_.watch->ends(t);
    taking_->withdraw();
    while (!taking_->advance()) {}
    turns_ = taking_->take();
    taking_.reset();
  }
  leave();
  for (detail::local_lock* const s : all_) s->drop_user();
}

}  // namespace holdfast::sim
