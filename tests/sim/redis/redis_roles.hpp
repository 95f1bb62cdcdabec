// Two Redis servers behind the simulated name, or watched by sentinels: which one is the master,
// where the name leads or what the sentinels name, and how both change.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "tests/sim/machine/store_model.hpp"
#include "tests/sim/redis/model/redis_pair.hpp"

namespace holdfast::sim {

class world;
class redis_sentinels;

// A connection's handle tells its server.
class redis_roles {
 public:
  redis_roles(world&, model_redis::wall_clock);

  // In the place of the name. They outlive all calls.
  void be_watched_by(redis_sentinels& s) noexcept { sentinels_ = &s; }

  int connect(peer&, const std::string& host);
  static int server_of(int connection) noexcept { return connection % 2; }
  void receive(int connection, std::string_view bytes);
  void disconnect(int connection);
  bool is_connected(int connection) const;
  moment stands_until(int connection) const noexcept { return stand_until_[server_of(connection)]; }

  // Whose grants count: of the server that was promoted last, once the name has led a client to it
  // or the one before is its replica.
  int leading() const noexcept { return leading_; }
  model_redis& at(int server) noexcept { return pair_.at(server); }
  // Calls `on_loss` where grants of the server that led before are unknown to the one that leads.
  std::function<void()> on_loss;

  void happen(const fault&);
  void restart();  // of the server whose grants count
  void heal();

 private:
  void on_effects();
  // The replica has told its master so much of what it has.
  void confirm(int master, std::int64_t number);
  void answer_waits(int server);
  moment goes_on_at(int server) const;
  bool awaits_replicas() const;     // clients, before anything counts
  void believe_for(moment window);  // in grants of the server that led before
  void change_id(int server);
  bool begins_change() const;
  // Where the name leads, or whom a majority of the sentinels names, when that time has passed.
  void lead_name_to(int server, moment changes_after, const fault&);
  // A client that has lost its server follows the heir of that before the sentinels name it.
  void note_heir(int server, std::string_view bytes);
  void promote(const fault&);
  void fail_over(const fault&);
  void empty_replica(const fault&);
  void lead_name_back(const fault&);
  void take_back(const fault&);
  void begin_reign(int server);
  void demote(int server);
  void lead_name_to(int server, fault::share cuts);
  void look_who_leads(fault::share cuts);
  moment window(fault::share cuts) const;
  void excuse_clients(moment from, bool hit);
  void excuse_those_left_at(int server);
  void excuse_without_replica(moment lasts);

  world& world_;
  redis_pair pair_;
  redis_sentinels* sentinels_ = nullptr;
  int named_ = 0;  // by the name
  moment named_since_{};
  int pipes_named_ = 0;  // made until then
  moment named_from_{};  // the server that is promoted
  int newest_ = 0;       // was promoted last
  int leading_ = 0;
  moment stand_until_[2] = {};
  bool is_busy_ = false;  // a change of roles goes on
  bool is_led_back_ = false;
  bool stands_ = false;          // the stream to the replica
  bool is_reached_ = false;      // by a client that the name led to the newest as a replica
  bool is_lossy_ = false;        // the newest lacked something of the other when it was promoted
  bool was_swapped_ = false;     // by a failover
  bool was_taken_back_ = false;  // nothing shows at first that the other one is a replica
  std::int64_t written_ = 0;     // by the other one until then
  int pipes_then_ = 0;
  int pipes_before_[2] = {};  // made until a server was last started or promoted
  bool is_strange_ = false;   // the other one has drawn an id, and some client does not know it by
                              // its run_id
};

}  // namespace holdfast::sim
