// One schedule: machines with clients and users, the network, and what troubles them. The store and
// its judge come from outside.
#pragma once
#include <holdfast/client.hpp>
#include <holdfast/guard.hpp>

#include <algorithm>
#include <deque>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/parker.hpp"
#include "seam/backend.hpp"
#include "tests/sim/machine/dice.hpp"
#include "tests/sim/machine/digest.hpp"
#include "tests/sim/machine/event.hpp"
#include "tests/sim/machine/excuses.hpp"
#include "tests/sim/machine/machine.hpp"
#include "tests/sim/machine/observer.hpp"
#include "tests/sim/machine/plan.hpp"
#include "tests/sim/machine/result.hpp"
#include "tests/sim/machine/rules.hpp"
#include "tests/sim/machine/store_model.hpp"
#include "tests/sim/machine/user.hpp"

namespace holdfast::sim {

class sim_loop;

enum class interruption : unsigned char {  // of a client by a trouble
  cut,                                     // its connections end, or none is accepted
  refusal,                                 // its requests are refused
  silence,                                 // they are not answered
  of_ensemble,
  of_roles,  // servers change them
};

class world {
 public:
  world(const plan&, const world_parts&, recording, std::ostream* trace);
  ~world();
  world(const world&) = delete;

  result run();                         // until all is over or something was not as it must be
  void run_until(const base::parker&);  // for a thread that blocks

  const plan schedule;
  timeline time;
  dice chance;
  excuses excused;
  const std::unique_ptr<store_model> store;
  const std::unique_ptr<observer> watch;

  // For the network.
  moment delay();
  moment jitter() { return chance.between(moment(0), std::chrono::microseconds(200)); }
  moment round_trips() const;  // a few, with room to spare
  moment longest_delay() const noexcept {
    return schedule.delay_max * (schedule.slow_share > 0 ? 10 : 1);
  }
  // To connect to a server, to greet it and to confirm something there, by a script that it may not
  // know yet; messages may be slow.
  moment time_to_reach() const {
    return schedule.delay_max * (schedule.slow_share > 0 ? 140 : 14) + std::chrono::milliseconds(5);
  }
  moment long_wait_max() const { return schedule.op_timeout * 3; }
  moment long_wait() { return chance.between(moment(0), long_wait_max()); }
  // Of a connection of that client.
  void excuse_silence(const machine&, moment until, bool is_greeting = false);
  void note_refusal(const machine&);  // of a request of that client
  bool refuses() const noexcept { return refusals_ > 0; }
  void refuse_connections(bool begins) noexcept { refusals_ += begins ? 1 : -(refusals_ > 0); }
  moment delay_of_connect();  // more than that of a message
  bool greets_in_part();
  moment server_stands_until() const noexcept { return stands_until_; }
  void serve(pipe&, std::string_view bytes);
  void disconnect(pipe&);
  void cut_connections_to(int server, double share);
  int pipes_made() const noexcept { return pipes_; }
  bool has_connection_to(int server) const;
  // The clients that send requests to that server over pipe number `made_until` or an older one.
  std::vector<const machine*> clients_of(int server, int made_until) const;
  bool asks_other_server(machine&) const;  // than the one that leads
  // Whether all living clients have sent requests to it over connections made later than that.
  bool all_have_seen(int server, int later_than) const;
  std::shared_ptr<pipe> make_pipe(machine&, sim_loop&, base::stream_events&,
                                  const std::string& host);

  std::string lock_name(int i) const { return "lock" + std::to_string(i); }
  std::vector<std::string> lock_names() const;
  moment lease_max() const { return schedule.ttl * 2 * 102 / 100; }  // by the slowest clock
  bool acts(std::string_view client) const;  // it lives, and does not stand still
  // Users that wait for the lock, of acting clients or of one client; without those that wait for a
  // lost lease of their own process to be released.
  int users_waiting(int lock, std::string_view client = {}) const;
  // Of that client, if it acts; `surely`: for no other lock first.
  int users_waiting(int lock, const machine& of, bool surely = false) const;
  bool is_healed() const noexcept { return healed_; }
  bool parts_wait() const noexcept { return schedule.parts_wait && !is_calm_; }
  // In the last act users hold for a short time: what is of interest then is that all are served.
  moment hold_max() const noexcept {
    return is_calm_ ? std::min<moment>(schedule.hold_max, schedule.ttl / 4) : schedule.hold_max;
  }
  moment think_max() const noexcept {
    return is_calm_ ? std::min<moment>(schedule.think_max, std::chrono::milliseconds(20))
                    : schedule.think_max;
  }
  template <class Visit>
  void each_living(Visit visit) const {
    for (const process& p : processes_)
      if (!p.where->is_dead()) visit(*p.where);
  }
  std::vector<const machine*> living() const;
  const machine* machine_of(std::string_view client) const;  // null: none is known
  // Of its users that wait for this lock alone, when the first began; max(): none does.
  moment first_to_wait(const machine&, int lock) const;
  // A user sends writes to the resource that the lock protects.
  void send_writes(int lock, const detail::turn&);
  void warned(std::string_view line);
  // Whether it is one of the judge's. To be called where the rule is judged: it notes that.
  bool judges(rule r) noexcept {
    if (!judged_.contains(r)) return false;
    applied_.add(r);
    return true;
  }
  void complain(rule, const std::string& what_happened);  // a violation; the first one counts
  bool is_content() const noexcept { return complaint_.empty(); }
  void later(moment wait, deed d) { time.at(time.now() + wait, std::move(d)); }
  // All that changes the server but what clients ask.
  template <class Change>
  void change_server(Change change) {
    change();
    watch->after_server(nullptr);
  }
  bool is_recorded() const noexcept { return trace_ || recording_ == recording::on; }
  // For the digest, and as a line of the trace, which shows all facts.
  template <class Text>
  void record(event what, std::initializer_list<fact> facts, Text text) {
    if (!is_recorded()) return;
    add_to_digest(what, facts);
    if (trace_) print(text());
  }

 private:
  struct process {
    std::unique_ptr<machine> where;
    std::optional<client> runs;
    std::vector<std::unique_ptr<user>> users;
  };
  struct breaking final : seam::decision_handler {  // of a lock
    breaking(world& w, int l, std::string o, moment now)
        : home(w), lock(l), owner(std::move(o)), begun(now) {}
    void on_result(bool) override { home.watch->broke(lock, owner, begun); }
    void on_failed(base::failure) override {}
    world& home;
    const int lock;
    const std::string owner;
    const moment begun;
  };
  struct inspection final : seam::holders_handler {  // of a lock
    inspection(world& w, int c, int l, moment now) : home(w), client(c), lock(l), begun(now) {}
    void show(int one, const std::vector<holder>&);
    void on_result(std::vector<holder>) override;
    void on_failed(base::failure) override {}
    world& home;
    const int client, lock;  // of all of them where it is negative
    const moment begun;
  };
  struct pruning final : seam::result_handler<std::size_t> {
    pruning(world& w, int c) : home(w), client(c) {}
    void on_result(std::size_t) override;
    void on_failed(base::failure) override {}
    world& home;
    const int client;
  };
  void open_client();
  int processes_max() const noexcept;
  lock_kind kind_of_locks() const;
  std::unique_ptr<user> make_user(process&, int number);
  void happen(const fault&);
  moment recovery(moment lasted, interruption) const;
  void excuse(const fault&, interruption, moment settles);
  void happen_to_pipe(const fault&);
  void happen_to_process(const fault&);
  void go_down(moment lasts);
  void break_lock(const fault&);
  void inspect();
  void prune();
  void crash(process&);
  void heal();
  bool all_served() const;
  void close_all();
  void close(process&);
  void play_to_the_end();
  bool serve_all();
  void play_last_act();
  void run_until(moment);
  void check_waits();
  void check_bounds();
  void add_to_digest(event, std::initializer_list<fact>) noexcept;
  void print(const std::string&);

  const rule_set judged_;
  rule_set applied_;
  const recording recording_;
  std::ostream* const trace_;
  digest digest_;
  std::deque<process> processes_;  // events keep references to them
  int users_made_ = 0;
  std::vector<std::unique_ptr<breaking>> breakings_;
  std::vector<std::unique_ptr<inspection>> inspections_;
  std::vector<std::unique_ptr<pruning>> prunings_;
  dice chance_of_writes_;
  std::deque<fencing_guard> resources_;  // of each lock
  int pipes_ = 0;
  int refusals_ = 0;
  moment refused_clients_settle_{};
  moment stands_until_{}, connects_slowly_until_{}, greets_in_part_until_{};
  bool healed_ = false, warned_ = false;
  bool is_calm_ = false;  // in the last act no message is slow
  moment healed_at_{};
  moment troubled_since_{}, recovered_{-1};
  moment wait_limit_{};  // how long one may wait when all is well
  std::string complaint_;
};

}  // namespace holdfast::sim
