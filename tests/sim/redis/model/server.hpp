// The inside of model_redis: what the commands work on.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/redis/model/command.hpp"
#include "tests/sim/redis/model/keyspace.hpp"
#include "tests/sim/redis/model/model_redis.hpp"

namespace holdfast::sim {

struct script;

class server {
 public:
  explicit server(model_redis::wall_clock clock);

  // Checks one command as Redis does and runs it, queues it or refuses it.
  void process(connection&, arguments);
  void run(connection& c, const command& what, arguments argv) {
    call one{*this, c, argv, resp_writer(c.out)};
    what.run(one);
  }
  // Why a script may not run `what`; empty when it may. `wrote`: it has written already.
  std::string_view refused_to_script(const command& what, bool wrote) const;

  std::int64_t now_ms() const { return now_.count() / 1000; }  // frozen while a command runs
  std::chrono::microseconds now() const { return now_; }
  void look_at_clock() { now_ = clock_(); }

  long long publish(std::string_view channel, std::string_view message);
  void subscribe(connection&, std::string_view channel);
  void unsubscribe(connection&, std::string_view channel);

  connection& open(peer&);
  connection* find(int handle);
  void close(int handle, bool tell);
  void owes(connection&);  // `out` is to be delivered
  void deliver_all();
  void begin_life();  // a new run of the process
  void close_all();

  std::array<keyspace, 16> databases;
  std::array<keyspace, 16> saved;
  std::map<int, std::unique_ptr<connection>> connections;
  std::map<std::string, std::vector<connection*>, std::less<>> channels;
  std::vector<const script*> scripts;
  connection for_scripts;  // the client that redis.call speaks through
  std::map<std::string, std::string, std::less<>> passwords;  // of users
  std::set<std::string, std::less<>> forbidden;
  std::string run_id;
  std::chrono::microseconds started{};
  std::size_t max_clients = 10'000;
  bool memory_full = false;
  bool readonly = false;
  bool loading = false;
  bool disk_full = false;
  static thread_local bool transactions_come_apart;  // a planted fault, of those made from now on
  const bool runs_commands_of_multi = transactions_come_apart;

 private:
  std::string_view refusal(const connection&, const command&) const;
  void refuse(connection&, const command*, std::string_view error);

  model_redis::wall_clock clock_;
  std::chrono::microseconds now_{};
  std::vector<connection*> pending_;
  int last_handle_ = 0;
  long long last_id_ = 0;
  bool was_full_ = false;  // when a command last began: what a script is told
  int lives_ = 0;
};

// The collection or string under a key. `wrong`: it holds something else, and that was answered.
template <class T>
struct found {
  T* it = nullptr;
  bool wrong = false;
};

inline constexpr std::string_view wrong_type =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
inline constexpr std::string_view syntax_error = "ERR syntax error";
inline constexpr std::string_view not_an_integer = "ERR value is not an integer or out of range";

inline keyspace& database(call& c) { return c.on.databases[c.by.database]; }
inline value* find(call& c, std::string_view key) { return database(c).find(key, c.on.now_ms()); }

template <class T>
found<T> find(call& c, std::string_view key) {
  value* const v = find(c, key);
  if (!v) return {};
  if (T* const it = std::get_if<T>(&v->data)) return {it, false};
  c.out.error(wrong_type);
  return {nullptr, true};
}

// After find<T>() found nothing.
template <class T>
T& make(call& c, std::string_view key) {
  return database(c).make(key).data.emplace<T>();
}

}  // namespace holdfast::sim
