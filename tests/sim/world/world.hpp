// One schedule: machines with clients and users, the network, the server, and what troubles them.
#pragma once
#include <holdfast/client.hpp>

#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <vector>

#include "tests/sim/model/model_redis.hpp"
#include "tests/sim/world/dice.hpp"
#include "tests/sim/world/digest.hpp"
#include "tests/sim/world/event.hpp"
#include "tests/sim/world/judge.hpp"
#include "tests/sim/world/machine.hpp"
#include "tests/sim/world/plan.hpp"
#include "tests/sim/world/requests.hpp"
#include "tests/sim/world/user.hpp"

namespace holdfast::sim {

class sim_loop;

enum class recording : bool { off, on };

class world {
 public:
  world(const plan&, recording, std::ostream* trace);
  ~world();
  world(const world&) = delete;

  // Until all is over or something was not as it must be: then judge says what.
  void run();

  const plan schedule;
  timeline time;
  dice chance;
  model_redis server;
  judge watch;
  request_texts requests;

  // For the network.
  moment delay();
  moment jitter() { return chance.between(moment(0), std::chrono::microseconds(200)); }
  moment long_wait() { return chance.between(moment(0), schedule.op_timeout * 3); }
  bool refuses() const noexcept { return refusals_ > 0; }
  moment server_stands_until() const noexcept { return stands_until_; }
  void serve(pipe&, std::string_view bytes);
  void disconnect(pipe&);
  std::shared_ptr<pipe> make_pipe(machine&, sim_loop&, core::stream_events&);

  std::string lock_name(int i) const { return "lock" + std::to_string(i); }
  std::int64_t server_ms() const;
  moment lease_max() const { return schedule.ttl * 2 * 102 / 100; }  // by the slowest clock
  std::chrono::microseconds server_now() const { return wall(); }
  bool lives(std::string_view channel) const;  // a client that listens there, or is to
  bool acts(std::string_view channel) const;   // it lives, and does not stand still
  // Users of those that act who wait for the lock, and not for a lost lease in their own process to
  // be left; of the client that listens there.
  int users_waiting(int lock, std::string_view channel = {}) const;
  bool is_healed() const noexcept { return healed_; }
  bool has_warned() const noexcept { return warned_; }
  void warned(std::string_view line);
  bool is_recorded() const noexcept { return trace_ || recording_ == recording::on; }
  // For the digest, and as a line of the trace, from which all facts can be told.
  template <class Text>
  void record(event what, std::initializer_list<fact> facts, Text text) {
    if (!is_recorded()) return;
    add_to_digest(what, facts);
    if (trace_) print(text());
  }
  std::uint64_t digest_so_far() const noexcept { return digest_.value(); }

 private:
  struct process {
    std::unique_ptr<machine> where;
    std::optional<client> runs;
    std::vector<std::unique_ptr<user>> users;
  };
  struct breaking;
  void open_clients();
  std::unique_ptr<user> make_user(process&, int number);
  void happen(const fault&);
  void happen_to_server(const fault&);
  void happen_to_pipe(const fault&);
  void later(moment wait, timeline::deed d) { time.at(time.now() + wait, std::move(d)); }
  template <class Change>
  void change_server(Change);
  void restart(kept);
  void resync(moment lasts);
  void go_down(moment lasts);
  void leap(moment by);
  void foreign(const fault&);
  void foreign_leaves(const std::string& lock, const std::string& mine);
  void break_lock(const fault&);
  void crash(process&);
  void heal();
  bool all_served() const;
  void close_all();
  void run_until(moment);
  void check_waits();
  void add_to_digest(event, std::initializer_list<fact>) noexcept;
  void print(const std::string&);
  std::chrono::microseconds wall() const;

  const recording recording_;
  std::ostream* const trace_;
  digest digest_;
  std::vector<process> processes_;
  std::vector<std::unique_ptr<breaking>> breakings_;
  int pipes_ = 0;
  int refusals_ = 0;
  int foreigners_ = 0;
  moment stands_until_{};
  moment clock_offset_{};
  bool healed_ = false, warned_ = false;
  moment healed_at_{};
  moment patience_{};  // how long one may wait when all is well
};

struct result {
  std::string complaint;  // empty: all as it must be
  moment lasted{};
  std::uint64_t events = 0;
  std::uint64_t digest = 0;  // of what was recorded; with a trace it always is
};
result play(const plan&, std::ostream* trace = nullptr, recording = recording::off);

}  // namespace holdfast::sim
