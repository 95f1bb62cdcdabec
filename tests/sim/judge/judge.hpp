// Judges, after every event, the locks at the server and the users that believe they hold them.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "cohort/turn.hpp"
#include "seam/backend.hpp"
#include "tests/sim/judge/lock_view.hpp"
#include "tests/sim/machine/observer.hpp"

namespace holdfast::sim {

class world;
struct plan;

// The rules, and when each is suspended:
//   one      | of the holders by their own clocks at most one, and it has the lock at the server.
//            | When data was lost, the clock set forward or the lock broken, leases have ended at
//            | the server that their holders still count on: those from before are not judged for
//            | a ttl.
//   told     | a lease that was seen as lost is never held again; a doubt and the loss are reported
//            | in time.
//   once     | the id of a claim that was released gets no lock again. Not judged where old data
//            | come back or requests of old connections do, nor where locks are broken: the claim
//            | may not know yet that it had one.
//   lost     | no holder gets a loss reported of what it has; not judged where the clock leaps,
//            | which is taken for a machine that was stopped, nor where servers grant sessions
//            | other timeouts, for such a session is replaced. Of two servers behind one name,
//            | losses are judged that are reported when the window of a change is over.
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
//            | lock was handed to another lost one. Not judged while and shortly after messages of
//            | all clients may have been lost. A client of which messages may have been lost counts
//            | as a lost waiter meanwhile. In the last act the bound is tight, and nothing is
//            | excused but requests that wait in the server for what another client has begun.
//   stalled  | nor is it free or a lost holder's for longer than that holder's lease, a ttl for
//            | each lost waiter, and a second. Lost: gone, or stopped.
//   ghost    | no client has more claims in the queue than users that wait. Not judged as above.
//   kept     | no client has a lock with no user inside, except one that keeps it for its next
//            | user, and that only while no other client waits. Not judged where `free` is not,
//            | nor of clients that are gone, not subscribed, or without a connection for renewals.
//            | A release that the server has lost may leave the lock to its client for one lease.
//   notes    | of a mutex the server keeps notes on at most one claim that neither holds nor waits.
//            | Where some users want several at once the windows of dead waiters may stay, and are
//            | not counted.
//   attempt  | one attempt never waits.
//   bound    | a bounded wait ends with its bound; one for several locks, with the attempt that is
//            | left then. A client that was stopped has as long after it goes on.
//   given up | a waiter without a bound is not refused because the server does not answer, unless
//            | an outage was as long as the outage-timeout; without trouble no user is.
//   shown    | each holder that holders() or list() reports had the lock, or a part of it, between
//            | the request and the answer, and each that had it all the time is reported. Where
//            | none is reported, nobody had the mutex at some time between. Not judged where old
//            | data come back.
//   guarded  | the resource's guard refuses a write with an older token than one that it admitted,
//            | and admits that of the lock's exclusive holder. Not judged where the store has no
//            | tokens; the second not while numbers mean nothing.
//   break    | when break_lock() is answered, the owner that was seen has lost the lock. Not judged
//            | of members, nor where old data come back.
//   old      | no request of an old connection is executed after its successor has sent one to the
//            | same server.
//   dead     | the lock is handed to no claim whose client is not subscribed.
//   passed   | a mutex with a queue at the server is granted in its order, to no claim past one
//            | that stays queued before it. Users of one process that want it alone get it in the
//            | order in which they began to wait. A request for several locks at once is granted
//            | none past a waiter. Not judged of a request that its client has left behind at a
//            | server of two, which leads when it arrives.
// A machine whose clock has stood may believe in its leases until their next renewal, and is taken
// at its word that it has lost one.
// Of two servers behind one name the one counts that was promoted last, once the name has led to
// it. Then the users of the other one may believe in their grants for the window that is stated in
// docs/safety.md, and no longer; a client that was idle, from its next request on. Where a replica
// has to confirm what counts (replicas=), there is no such window.
// With a primary and a replica of MariaDB, the server that was promoted last counts at once. Users
// may believe in grants that it lacks for the time of a lease, and in locks of connections to the
// former primary for the idle timeout (docs/backends/mysql.md). The former primary grants nothing.
// Where a lock is shared, or a semaphore:
//   together | no reader holds with a writer, and no more permits are held than there are, by the
//            | belief of the users and at the server.
//   group    | the readers of a group have its number, or each keeps that of its own. A claim that
//            | was granted a share by the server that led before keeps that number.
//   passed   | no claim is granted the lock past a waiter.
// Where waiters ask for the lock themselves, in the order of a queue:
//   passed   | no claim gets the lock past one that is queued before it. Not judged of a claim that
//            | may have had its place at another server of the name.
//   spin     | a waiter does not ask more than forty times within a second in which neither the
//            | owner nor the queue changes.
// Where the store keeps no queue, each user that waits counts as a waiter that is queued and alive,
// and a lock may be free for as long as its waiters pause at most.
class judge final : public observer {
 public:
  judge(world&, std::unique_ptr<lock_view>);

  rule_set rules() const override;
  void about_to_serve(const pipe&, std::string_view bytes) override;
  void after_server(const pipe* by) override;
  void after_event() override;
  void unsafe(moment for_so_long) override;
  void went_on(const machine&) override;
  void moved(moment window) override;
  void lost_writes(moment window) override;
  void taken(moment window) override;
  void forget_numbers() override;
  void excuse_leases() override;
  void excuse_leases(int lock) override;
  void excuse_old_queues() override;
  void excuse_waiters(int lock, moment until) override;
  std::size_t queue_length(int lock) const override;
  void begin_last_act() override;
  moment free_max() const override { return free_max_; }
  void excuse_ghosts(moment until) override;
  void begins(const stay&) override;
  void reads_on(const detail::turn*) override;
  void awaits_notices(const detail::turn*, std::stop_token doubt, std::stop_token loss) override;
  void ends(const detail::turn*) override;
  std::optional<stay> withhold(const detail::turn*) override;
  void goes_on(const stay&) override;
  void gave_up(bool waits_on, moment asked, const base::failure& why) override;
  void broke(int lock, const std::string& owner, moment begun) override;
  void shown(int lock, const std::vector<std::string>& owners, bool all, moment begun) override;
  void wrote(int lock, const std::string& claim, std::int64_t token, bool is_admitted) override;
  void closes(const machine&, bool is_clean) override;
  void all_closed(bool has_crashes) override;
  bool is_kept_by_a_loser(int lock, const machine&) const override;
  std::vector<std::string> holders_of(int lock) const override;

 private:
  struct ownership {
    std::string claim;
    moment since{};
    std::int64_t number = 0;  // 0: no user has it yet
    std::int64_t token = 0;   // the last one
    moment judged_from{};     // what it believes until then may be of before something unsafe
    bool is_stray = false;    // of a server that led before
    std::int64_t stray_number = 0;
  };
  struct membership {
    moment judged_from{};
    std::int64_t number = 0;  // of its group
    std::int64_t kept = 0;    // of its grant at a server that led before
  };
  struct tenure {  // of a member
    std::string id;
    moment since{};
    moment until = moment::max();
  };
  struct queueing {  // a claim that lost what it had been let in for queues again
    moment first{}, last{};
  };
  struct asking {
    int count = 0;
    moment since{};
  };
  struct period {  // of one owner, or of none
    moment since{};
    std::string owner;
    bool lapsed = false;  // before it ended
    moment revived{};     // by a renewal, when it had lapsed
  };
  struct lock_state {
    int number = 0;
    std::vector<period> periods{{}};
    std::string key;
    std::vector<std::pair<std::string, double>> members;  // id and the end of its lease, in us
    std::vector<tenure> tenures;                          // of members
    std::vector<std::string> line;
    std::unordered_map<std::string, membership> ever;  // by claim
    std::string owner;
    std::int64_t expires_ms = 0;
    std::vector<ownership> owners;  // in order; a claim may own it more than once
    std::size_t counted_anew = 0;   // of those before, numbers say nothing
    std::optional<moment> free_since;
    std::string idle;  // the claim that has it with no user inside
    moment idle_since{};
    std::unordered_map<std::string, queueing> queued_at;  // of shares and permits
    std::unordered_map<std::string, asking> asks;         // of those that are queued
    int lost_ahead = 0;  // most waiters that were lost, before one that is not, since it was free
    std::optional<moment> stalled_since;        // free or a lost holder's, while users wait
    moment stalled_until{};                     // the end of that holder's lease
    int handed_to_lost = 0, lost_in_stall = 0;  // since then
    std::string lost_owner;
    std::unordered_set<std::string> released;  // claims
    std::int64_t admitted = 0;                 // the highest token of a write that was
    // The ids at the server of the waiters from before a loss of data, and the clients whose users
    // have waited since then.
    std::vector<std::string> old_ids;
    std::vector<const machine*> old_waiters;
    std::vector<std::string> copied;  // ids that were queued when old data came, or another server
    std::string contended;            // a client with more queued claims than waiting users
    moment contended_since{};
  };
  using queue_seen = std::vector<std::string_view>;  // ids at the server, the next one first
  struct queued {
    std::string_view id;
    const machine* of;  // null: none that is known
    bool is_lost_or_excused;
  };
  queued seen_in_queue(std::string_view id) const;
  void look(lock_state&, const pipe* by);
  bool grants_in_order() const noexcept {
    return can_.queue == seam::order::fifo && can_.contention != seam::contention_signal::push;
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
  void find_place(lock_state&, stay&);
  bool notes_stray(lock_state&, stay&);
  void note_use(const machine&);
  moment stray_until(const machine&) const;
  moment elsewhere_until(machine&) const;
  void look_at_members(lock_state&, const std::string& owner_before, const pipe* by);
  void members_changed(lock_state&, const std::vector<std::pair<std::string, double>>& now,
                       const queue_seen&, const std::string& owner_before, const pipe* by);
  void came_in(lock_state&, const std::string& id, const queue_seen&,
               const std::string& owner_before, const pipe* by);
  bool is_member(const lock_state&, std::string_view claim) const;
  moment judged_from(const lock_state&, const stay&) const;
  bool head_has_room(const lock_state&) const;
  void judge_belief(const lock_state&, const stay&, bool has_it);
  bool judges_losses(const lock_state&, const stay&) const;
  void judge_holders(const lock_state&);
  // `lost`: lost_before_the_first().
  void judge_freedom(lock_state&, const std::vector<queued>&, int lost);
  void judge_stall(lock_state&, int lost);
  void judge_ghosts(lock_state&, const std::vector<queued>&);
  void judge_notes(const lock_state&);
  void look_for_old_waiters(lock_state&);
  void judge_idleness(lock_state&, bool has_waiters);
  bool has_user_inside(const lock_state&, std::string_view id) const;
  std::string_view idle_holder(const lock_state&) const;
  void note_copied(lock_state&);
  void believe_until(lock_state&, moment);
  bool is_seen_as_before(const lock_state&) const;
  bool is_group_of_old_data(const lock_state&) const;
  bool is_wanted(const lock_state&, const queued&, const std::vector<queued>&) const;
  int lost_before_the_first(const lock_state&, const std::vector<queued>&) const;
  bool is_lost(std::string_view id) const;
  void judge_passing(lock_state&, const std::string& owner_before, const pipe* by);
  moment window_of_late_requests() const;
  moment longest_lease(const lock_state&) const;
  int revived(const lock_state&) const;
  void judge_reports(stay&);
  void judge_doubt(stay&) const;
  static bool brings_old_data(const plan&);
  bool is_shown_as(std::string_view id, std::string_view owner) const;
  bool was_owner(const lock_state&, std::string_view owner, moment since) const;
  void shown_members(const lock_state&, const std::vector<std::string>& owners, bool all,
                     moment begun);
  bool was_holder(const lock_state&, std::string_view owner, moment since) const;
  std::string_view holder_since(const lock_state&, moment,
                                const std::vector<std::string>& but) const;
  static void note_released(lock_state&, std::string_view claim);
  void judge_once(const lock_state&, std::string_view claim);
  void judge_order_in_process(const stay&);
  std::string_view now_owner(const lock_state&) const;
  std::string left_of(const lock_state&, std::string_view client) const;
  bool is_left_by_unsettled(std::string_view lock) const;

  world& world_;
  const std::unique_ptr<lock_view> view_;
  const seam::capabilities can_;  // of the store
  const bool may_have_old_data_;
  std::vector<lock_state> locks_;
  std::vector<stay> stays_;
  std::vector<queued> queue_;            // of the lock that is judged
  static constexpr int servers_max = 3;  // behind one name, or of a cluster
  // Pipes with requests, by server: commands, renewals.
  std::unordered_map<const machine*, int> newest_[servers_max][2];
  struct use {               // of its connections by a client
    moment last{}, since{};  // there was no longer pause
  };
  std::unordered_map<const machine*, use> uses_;
  moment unsafe_until_{-1}, moved_until_{-1}, taken_until_{-1};
  std::unordered_map<const machine*, moment> believes_until_;  // by a clock that has stood
  std::unordered_set<std::string> unsettled_;  // clients in trouble whose close() returned false
  moment lease_max_{};
  bool clock_leaps_ = false;
  moment ghosts_excused_until_{};
  moment window_of_waiter_{};
  moment free_max_{}, idle_max_{}, ghost_max_{};
};

}  // namespace holdfast::sim
