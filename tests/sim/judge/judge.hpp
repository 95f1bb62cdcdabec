// Watches the locks at the server and those who believe that they hold them, after every event.
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
//   one      | of those who hold by their own clock, at most one; each has the lock at the server.
//            | When data was lost, the clock set forward or the lock broken, leases have ended at
//            | the server that their holders still count on: those from before are not judged for
//            | a ttl.
//   lost     | nobody is told that it has lost what it has; not judged where the clock leaps, which
//            | is taken for a machine that was stopped.
//   tokens   | in the order in which claims got the lock at the server, the numbers they were given
//            | grow. Always judged; a schedule has either lost data or a clock that is set back.
//   owner    | a lock leaves its owner by a request of that owner, or because its time is over.
//   turns    | in one process, the next turn starts when the earlier one was left.
//   free     | a lock that is free while somebody waits does not stay so: not for longer than a ttl
//            | for each lost waiter before it, and a second; anywhere in line, where the lock was
//            | handed to a lost one. Not judged while and shortly after messages may have been
//            | lost.
//   stalled  | nor is it free or a lost holder's for longer than that holder's lease, a ttl for
//            | each lost waiter, and a second. Lost: gone, or standing still.
//   ghost    | no client has more claims in line than users who wait. Not judged as above.
//   kept     | nobody has a lock with no user inside, but who keeps it for its next one, and that
//            | only while nobody else waits. Not judged where `free` is not, and of those who are
//            | gone or do not listen.
//   notes    | of a mutex the server keeps notes on at most one that neither holds nor waits. Where
//            | some want several at once the windows of dead waiters may stay, and are not counted.
//   attempt  | one attempt waits for nobody.
//   given up | nobody who waits for as long as it takes is told that the server does not answer,
//            | unless an outage was as long as the outage-timeout; nobody at all without trouble.
//   old      | nothing that was asked over an old connection is done after its successor has asked.
//   dead     | the lock is handed to nobody who does not listen.
// Where some want several locks at once:
//   passed   | who asks for all at once gets none past one who waits in line.
// Where a lock is shared, or a semaphore:
//   together | no reader holds with a writer, and no more permits are had than there are, by those
//            | who believe it and at the server.
//   group    | the readers of a group have its number.
//   passed   | nobody comes in past one who waits.
class judge final : public observer {
 public:
  judge(world&, std::unique_ptr<lock_view>);

  void about_to_serve(const pipe&) override;
  void after_server(const pipe* by) override;
  void after_event() override;
  void unsafe(moment for_so_long) override;
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
    std::int64_t number = 0;  // 0: nobody was told
    std::int64_t token = 0;   // the last one
    moment judged_from{};     // what it believes until then may be of before something unsafe
  };
  struct membership {
    moment judged_from{};
    std::int64_t number = 0;  // of its group
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
    std::optional<moment> free_since;
    std::string idle;  // who has it with nobody inside
    moment idle_since{};
    std::unordered_map<std::string, moment> queued_at;  // first, of shares and permits
    int lost_ahead = 0;  // most waiters that were lost, before one that is not, since it was free
    std::optional<moment> stalled_since;        // free or a lost holder's, while somebody waits
    moment stalled_until{};                     // the end of that holder's lease
    int handed_to_lost = 0, lost_in_stall = 0;  // since then
    std::string lost_owner;
    std::string crowded;  // a client with more claims in line than it has users who wait
    moment crowded_since{};
  };
  void look(lock_state&, const pipe* by);
  void changed(lock_state&, const std::string& before, bool lapsed, const pipe* by);
  static bool fits(const lock_state&, const ownership&, std::int64_t number) noexcept;
  void judge_token(lock_state&, stay&);
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
  bool somebody_waits(const lock_state&) const;
  bool is_excused() const;
  std::string_view now_owner(const lock_state&) const;

  world& world_;
  const std::unique_ptr<lock_view> view_;
  std::vector<lock_state> locks_;
  std::vector<stay> stays_;
  std::unordered_map<const machine*, int> newest_[2];  // pipes that have asked: commands, renewals
  moment unsafe_until_{-1};
  moment lease_max_{};
  bool clock_leaps_ = false;
  moment excused_until_{}, ghosts_excused_until_{};
  moment free_max_{}, idle_max_{}, ghost_max_{};
};

}  // namespace holdfast::sim
