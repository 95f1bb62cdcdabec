// Judges, after every event, the locks at the server and the users that believe they hold them.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cohort/turn.hpp"
#include "seam/backend.hpp"
#include "tests/sim/judge/lock_view.hpp"
#include "tests/sim/machine/observer.hpp"

namespace holdfast::sim {

class world;

// What must be true, and when it is not judged:
//   one      | of the holders by their own clocks at most one, and it has the lock at the server.
//            | When data was lost, the clock set forward or the lock broken, leases have ended at
//            | the server that their holders still count on: those from before are not judged for
//            | a ttl.
//   lost     | no holder gets a loss reported of what it has; not judged where the clock leaps,
//            | which is taken for a machine that was stopped, nor where servers grant sessions
//            | other time-outs, for such a session is replaced.
//   tokens   | in the order in which claims got the lock at the server, the numbers of their grants
//            | grow. Always judged; a schedule has either lost data or a clock that is set back.
//            | Not judged where the store has none, nor, where it only counts, across a loss of
//            | data.
//   twice    | no claim is counted as more than one holder.
//   lease    | no lease of ours is longer than was asked for. Not judged where the clock leaps, nor
//            | where locks are handed over: those have a window of their own; nor of sessions.
//   owner    | a lock leaves its owner by a request of that owner, or because its lease ended.
//   turns    | in one process, the next turn starts when the earlier one was left.
//   free     | a lock does not stay free while users wait: not for longer than a ttl for each lost
//            | waiter ahead, and a second; a lost waiter counts anywhere in the queue, where the
//            | lock was handed to another lost one. Not judged while and shortly after messages may
//            | have been lost.
//   stalled  | nor is it free or a lost holder's for longer than that holder's lease, a ttl for
//            | each lost waiter, and a second. Lost: gone, or stopped.
//   ghost    | no client has more claims in the queue than users that wait. Not judged as above.
//   kept     | no client has a lock with no user inside, except one that keeps it for its next
//            | user, and that only while no other client waits. Not judged where `free` is not,
//            | nor of clients that are gone or not subscribed.
//   notes    | of a mutex the server keeps notes on at most one claim that neither holds nor waits.
//            | Where some users want several at once the windows of dead waiters may stay, and are
//            | not counted.
//   attempt  | one attempt never waits.
//   bound    | a bounded wait ends with its bound; one for several locks, with the attempt that is
//            | left then. A client that was stopped has as long after it goes on.
//   given up | a waiter without a bound is not refused because the server does not answer, unless
//            | an outage was as long as the outage-timeout; without trouble no user is.
//   old      | no request of an old connection is executed after its successor has sent one.
//   dead     | the lock is handed to no claim whose client is not subscribed.
// Where some users want several locks at once:
//   passed   | a request for all at once is granted none past a waiter.
// Where a lock is shared, or a semaphore:
//   together | no reader holds with a writer, and no more permits are held than there are, by the
//            | belief of the users and at the server.
//   group    | the readers of a group have its number, or each keeps that of its own.
//   passed   | no claim is granted the lock past a waiter.
// Where waiters ask for the lock themselves, in the order of a queue:
//   passed   | no claim gets the lock past one that is queued before it.
//   spin     | a waiter does not ask more than forty times within a second in which neither the
//            | owner nor the queue changes.
// Where the store keeps no queue, each user that waits counts as a waiter that is queued and alive,
// and a lock may be free for as long as its waiters pause at most.
class judge final : public observer {
 public:
  judge(world&, std::unique_ptr<lock_view>);

  void about_to_serve(const pipe&, std::string_view bytes) override;
  void after_server(const pipe* by) override;
  void after_event() override;
  void unsafe(moment for_so_long) override;
  void forget_numbers() override;
  void excuse(moment until) override;
  void excuse_ghosts(moment until) override;
  void begins(const stay&) override;
  void reads_on(const detail::turn*) override;
  void ends(const detail::turn*) override;
  std::optional<stay> withhold(const detail::turn*) override;
  void goes_on(const stay&) override;
  void gave_up(bool waits_on, const core::failure& why) override;
  bool is_kept_by_a_loser(int lock, const machine&) const override;
  std::vector<std::string> holders_of(int lock) const override;

 private:
  struct ownership {
    std::string claim;
    moment since{};
    std::int64_t number = 0;  // 0: no user has it yet
    std::int64_t token = 0;   // the last one
    moment judged_from{};     // what it believes until then may be of before something unsafe
  };
  struct membership {
    moment judged_from{};
    std::int64_t number = 0;  // of its group
  };
  struct asking {
    int count = 0;
    moment since{};
  };
  struct lock_state {
    int number = 0;
    std::string key;
    std::vector<std::pair<std::string, double>> members;  // id and the end of its lease, in us
    std::vector<std::string> line;
    std::unordered_map<std::string, membership> ever;  // by claim
    std::string owner;
    std::int64_t expires_ms = 0;
    std::vector<ownership> owners;  // in order; a claim may own it more than once
    std::size_t counted_anew = 0;   // of those before, numbers say nothing
    std::optional<moment> free_since;
    std::string idle;  // the claim that has it with no user inside
    moment idle_since{};
    std::unordered_map<std::string, moment> queued_at;  // first, of shares and permits
    std::unordered_map<std::string, asking> asks;       // of those that are queued
    int lost_ahead = 0;  // most waiters that were lost, before one that is not, since it was free
    std::optional<moment> stalled_since;        // free or a lost holder's, while users wait
    moment stalled_until{};                     // the end of that holder's lease
    int handed_to_lost = 0, lost_in_stall = 0;  // since then
    std::string lost_owner;
    std::string crowded;  // a client with more queued claims than waiting users
    moment crowded_since{};
  };
  void look(lock_state&, const pipe* by);
  bool grants_in_order() const noexcept {
    return can_.queue == core::order::fifo && can_.wanted != core::wanted_by::push;
  }
  void judge_spin(std::string_view bytes);
  void judge_order(lock_state&, const std::string& owner_before, const pipe* by);
  void judge_lease(const lock_state&);
  void judge_holds(const lock_state&);
  bool has_no_use(const lock_state&) const;
  moment rest_of_the_lost(const lock_state&) const;
  void changed(lock_state&, const std::string& before, bool lapsed, const pipe* by);
  static bool fits(const lock_state&, const ownership&, std::int64_t number) noexcept;
  void judge_token(lock_state&, stay&);
  void find_place(const lock_state&, stay&);
  void look_at_members(lock_state&, const std::string& owner_before, const pipe* by);
  void members_changed(lock_state&, const std::vector<std::pair<std::string, double>>& now,
                       const std::string& owner_before, const pipe* by);
  void came_in(lock_state&, const std::string& id, const std::vector<std::string>& line,
               const std::string& owner_before, const pipe* by);
  bool is_member(const lock_state&, std::string_view claim) const;
  moment judged_from(const lock_state&, const stay&) const;
  bool head_has_room(const lock_state&) const;
  void judge_belief(const lock_state&, const stay&, bool has_it, bool judges_losses);
  void judge_holders(int lock);
  void judge_freedom(int lock);
  void judge_stall(lock_state&);
  void judge_ghosts(int lock);
  void judge_notes(const lock_state&);
  void judge_idleness(int lock);
  std::string_view idle_holder(int lock) const;
  int lost_before_the_first(const lock_state&) const;
  bool is_lost(std::string_view id) const;
  void judge_passing(lock_state&, const std::string& owner_before, const pipe* by);
  bool has_waiters(const lock_state&) const;
  bool is_excused() const;
  std::string_view now_owner(const lock_state&) const;

  world& world_;
  const std::unique_ptr<lock_view> view_;
  const core::capabilities can_;  // of the store
  std::vector<lock_state> locks_;
  std::vector<stay> stays_;
  std::unordered_map<const machine*, int> newest_[2];  // pipes with requests: commands, renewals
  moment unsafe_until_{-1};
  moment lease_max_{};
  bool clock_leaps_ = false;
  moment excused_until_{}, ghosts_excused_until_{};
  moment window_of_waiter_{};
  moment free_max_{}, idle_max_{}, ghost_max_{};
};

}  // namespace holdfast::sim
