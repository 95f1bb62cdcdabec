// One schedule: machines with clients and users, the network, and what troubles them. The store and
// its judge come from outside.
#pragma once
#include <holdfast/client.hpp>

#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "seam/backend.hpp"
#include "tests/sim/machine/dice.hpp"
#include "tests/sim/machine/digest.hpp"
#include "tests/sim/machine/event.hpp"
#include "tests/sim/machine/machine.hpp"
#include "tests/sim/machine/observer.hpp"
#include "tests/sim/machine/plan.hpp"
#include "tests/sim/machine/result.hpp"
#include "tests/sim/machine/store_model.hpp"
#include "tests/sim/machine/user.hpp"

namespace holdfast::sim {

class sim_loop;

class world {
 public:
  world(const plan&, const world_parts&, recording, std::ostream* trace);
  ~world();
  world(const world&) = delete;

  result run();  // until all is over or something was not as it must be

  const plan schedule;
  timeline time;
  dice chance;
  const std::unique_ptr<store_model> store;
  const std::unique_ptr<observer> watch;

  // For the network.
  moment delay();
  moment jitter() { return chance.between(moment(0), std::chrono::microseconds(200)); }
  moment long_wait() { return chance.between(moment(0), schedule.op_timeout * 3); }
  bool refuses() const noexcept { return refusals_ > 0; }
  void refuse_connections(bool begins) noexcept { refusals_ += begins ? 1 : -(refusals_ > 0); }
  moment server_stands_until() const noexcept { return stands_until_; }
  void serve(pipe&, std::string_view bytes);
  void disconnect(pipe&);
  std::shared_ptr<pipe> make_pipe(machine&, sim_loop&, core::stream_events&,
                                  const std::string& host);

  std::string lock_name(int i) const { return "lock" + std::to_string(i); }
  moment lease_max() const { return schedule.ttl * 2 * 102 / 100; }  // by the slowest clock
  bool acts(std::string_view client) const;  // it lives, and does not stand still
  // Users that wait for the lock, of acting clients or of one client; without those that wait for a
  // lost lease of their own process to be released.
  int users_waiting(int lock, std::string_view client = {}) const;
  bool is_healed() const noexcept { return healed_; }
  void warned(std::string_view line);
  void complain(std::string what);  // a violation: "rule: what happened". The first one counts
  bool is_content() const noexcept { return complaint_.empty(); }
  void later(moment wait, timeline::deed d) { time.at(time.now() + wait, std::move(d)); }
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
  struct breaking final : core::decision_handler {  // of a lock, with an answer that nobody needs
    void on_decided(bool) override {}
    void on_failed(core::failure) override {}
  };
  void open_clients();
  std::unique_ptr<user> make_user(process&, int number);
  void happen(const fault&);
  void happen_to_pipe(const fault&);
  void go_down(moment lasts);
  void break_lock(const fault&);
  void crash(process&);
  void heal();
  bool all_served() const;
  void close_all();
  void play_to_the_end();
  void run_until(moment);
  void check_waits();
  void check_bounds();
  void add_to_digest(event, std::initializer_list<fact>) noexcept;
  void print(const std::string&);

  const recording recording_;
  std::ostream* const trace_;
  digest digest_;
  std::vector<process> processes_;
  std::vector<std::unique_ptr<breaking>> breakings_;
  int pipes_ = 0;
  int refusals_ = 0;
  moment stands_until_{};
  bool healed_ = false, warned_ = false;
  moment healed_at_{};
  moment patience_{};  // how long one may wait when all is well
  std::string complaint_;
};

}  // namespace holdfast::sim
