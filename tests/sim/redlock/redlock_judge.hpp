// Judges the locks of a Redlock, after every event, by its masters and by the users that believe
// that they hold them.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tests/sim/machine/observer.hpp"
#include "tests/sim/redlock/play.hpp"

namespace holdfast::sim {

class world;
class redlock_store;

// The rules, and when each is suspended:
//   one      | at most one user believes that it holds a lock. Not judged for the longest lease and
//            | a max-ttl after a clock was set forward, or after a FLUSHALL that left fewer records
//            | than a majority.
//   quorum   | a majority of the masters has had the number of a grant, or a larger one, while it
//            | had the lock for its owner.
//   tokens   | the number of a grant is above those of all grants before it. Two grants never have
//            | the same number. Where leases may have ended early, a grant that was requested
//            | before the other one was complete may have the smaller number. Numbers of grants
//            | that were requested before a majority had lost its records say nothing.
//   turns    | in one process, the next turn starts when the earlier one was left.
//   told     | a lease that was seen as lost is never held again.
//   kept     | no master keeps a lock for a client of which no user wants it, while that client is
//            | connected and the master refuses nothing. A lost lease is left to end by itself.
//   lease    | no lease at a master is longer than was asked for; not judged where clocks are set.
//   given up | a waiter without a bound is not refused because servers do not answer.
//   left     | close() returns true, and a majority of the masters then has nothing of the client.
//            | Later no master has anything of any client.
// The machine judges attempts, bounds, and that every user is served at the end.
class redlock_judge final : public observer {
 public:
  redlock_judge(world&, redlock_store&);

  rule_set rules() const override;
  void about_to_serve(const pipe&, std::string_view bytes) override;
  void after_server(const pipe* by) override;
  void after_event() override;
  void unsafe(moment for_so_long) override;
  void forget_numbers() override;
  void begin_last_act() override { is_last_act_ = true; }
  moment free_max() const override;
  void begins(const stay&) override;
  void ends(const detail::turn*) override;
  std::optional<stay> withhold(const detail::turn*) override;
  void goes_on(const stay&) override;
  void gave_up(bool waits_on, moment asked, const base::failure& why) override;
  void closes(const machine&, bool is_clean) override;
  void all_closed(bool has_crashes) override;
  bool is_kept_by_a_loser(int lock, const machine&) const override;

  // Of other stores, or not judged.
  void went_on(const machine&) override {}
  void moved(moment) override {}
  void lost_writes(moment) override {}
  void taken(moment) override {}
  void excuse_leases() override {}
  void excuse_leases(int) override {}
  void excuse_old_queues() override {}
  void excuse_waiters(int, moment) override {}
  std::size_t queue_length(int) const override { return 0; }
  void excuse_ghosts(moment) override {}
  void reads_on(const detail::turn*) override {}
  void awaits_notices(const detail::turn*, std::stop_token, std::stop_token) override {}
  void broke(int, const std::string&, moment) override {}
  void shown(int, const std::vector<std::string>&, bool, moment) override {}
  void wrote(int, const std::string&, std::int64_t, bool) override {}
  std::vector<std::string> holders_of(int) const override { return {}; }

 private:
  struct attempt {  // by its owner
    const machine* by = nullptr;
    moment asked{};  // its first request arrived
    // Of each master, when it last had the lock for this owner; 0: it never had.
    std::array<std::int64_t, masters_max> numbers{};
    bool is_lost = false;  // its user has seen that
  };
  struct grant {
    std::string owner;
    std::int64_t number = 0, token = 0;  // the token of its last turn
    moment begun{};
  };
  struct keeping {  // of a lock at a master, by a client that does not want it
    std::string owner;
    moment since{};
  };

  void look(int server);
  std::string owner_at(int server, int lock) const;
  void judge_lease(int server, int lock, std::int64_t expires_ms);
  void judge_believers(int lock);
  void judge_loss(stay&);
  void judge_grant(const stay&);
  void judge_number(int lock, const grant&, const attempt&);
  void judge_keeping(int server, int lock);
  bool is_unwanted(int server, int lock, const std::string& owner) const;
  bool reaches(const machine&, int server) const;

  world& world_;
  redlock_store& store_;
  std::vector<stay> stays_;
  std::unordered_map<std::string, attempt> attempts_;
  std::vector<std::vector<grant>> grants_;       // by lock, in their order
  std::map<std::pair<int, int>, keeping> kept_;  // by master and lock
  moment unsafe_until_{-1}, numbers_since_{-1};
  moment keep_max_{};
  bool clocks_are_set_ = false, is_last_act_ = false;
};

}  // namespace holdfast::sim
