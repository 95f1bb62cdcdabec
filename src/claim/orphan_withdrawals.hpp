// Owner ids that may be left at a store: a request was sent under them and given up without an
// answer. Each is withdrawn until the store has answered and nothing of it can arrive any more.
#pragma once
#include <algorithm>
#include <chrono>
#include <iterator>
#include <list>
#include <utility>

#include "base/environment.hpp"

namespace holdfast::claims {

// Longer than any request was ever delayed: an orphan is kept for this long after its lease.
inline constexpr base::duration late_request_max = std::chrono::minutes{2};

enum class withdrawal : unsigned char {
  unsent,       // there is no connection: resend_all() sends it
  sent,         // an answer follows, or the connection's cut
  may_be_lost,  // sent, and perhaps no answer follows: sent again after a pause
  again,        // answered: the store has more to do than one call goes through
  refused,      // answered: not executed. The id may be queued, and others wait behind it
  unverified,   // answered, but an earlier request of this id may still arrive
  done,
};

struct orphan {  // a backend's own derives from it and says to which lock the id belongs
  explicit orphan(base::time_point end, base::duration pause_max = base::duration::max()) noexcept
      : until(end), most(pause_max) {}
  const base::time_point until;         // by then it has expired at the store
  const base::duration most;            // between two withdrawals that prove nothing
  base::time_point next = base::never;  // to be withdrawn again
  withdrawal last = withdrawal::unsent;
  unsigned pauses = 0;
};

// Orphan derives from claims::orphan and has `withdrawal withdraw(time_point now)`, which sends,
// and its `place` in the list. All with the store's mutex held.
template <class Orphan>
class orphan_withdrawals {
 public:
  // The time when tick() is due, as from on_answer() and tick(); never: not by itself.
  template <class... Args>
  base::time_point add(base::time_point now, Args&&... args) {
    items_.emplace_back(std::forward<Args>(args)...);
    items_.back().place = std::prev(items_.end());
    return on_answer(items_.back(), items_.back().withdraw(now), now);
  }
  base::time_point on_answer(Orphan& o, withdrawal outcome, base::time_point now) {
    while (outcome == withdrawal::again) outcome = o.withdraw(now);
    o.last = outcome;
    o.next = base::never;
    if (outcome == withdrawal::done) return drop(o), base::never;
    if (outcome == withdrawal::unsent || outcome == withdrawal::sent) return base::never;
    o.next = base::saturating_add(now, pause(o));
    const bool is_answered = outcome != withdrawal::may_be_lost;
    if (is_answered && o.next >= o.until) return drop(o), base::never;
    return o.next;
  }
  void on_cut(Orphan& o) noexcept { o.last = withdrawal::unsent; }
  // Over a new connection, before anything else.
  void resend_all(base::time_point now) {
    each([&](Orphan& o) {
      if (o.last != withdrawal::sent) on_answer(o, o.withdraw(now), now);
    });
  }
  base::time_point tick(base::time_point now) {
    base::time_point next = base::never;
    each([&](Orphan& o) {
      if (o.next > now) {
        next = std::min(next, o.next);
      } else if (o.last == withdrawal::may_be_lost && now >= o.until) {
        drop(o);
      } else {
        next = std::min(next, on_answer(o, o.withdraw(now), now));
      }
    });
    return next;
  }
  // Those that have to be withdrawn elsewhere: of one that awaits an answer this is known after it.
  template <class IsHere, class Add>
  void hand_over(IsHere is_here, Add add) {
    each([&](Orphan& o) {
      if (o.last == withdrawal::sent || is_here(std::as_const(o))) return;
      add(std::as_const(o));
      drop(o);
    });
  }
  bool empty() const noexcept { return items_.empty(); }
  void drop_all() noexcept { items_.clear(); }  // when no answer can come any more

 private:
  static base::duration pause(Orphan& o) noexcept {
    using namespace std::chrono_literals;
    constexpr base::duration pauses[] = {100ms, 1s, 10s, 60s};
    constexpr base::duration refused_max = 1s;
    const base::duration d = pauses[std::min<std::size_t>(o.pauses++, std::size(pauses) - 1)];
    return std::min(d, o.last == withdrawal::refused ? refused_max : o.most);
  }
  template <class Each>
  void each(Each call) {
    for (auto i = items_.begin(); i != items_.end();) call(*i++);
  }
  void drop(Orphan& o) noexcept { items_.erase(o.place); }

  std::list<Orphan> items_;
};

}  // namespace holdfast::claims
