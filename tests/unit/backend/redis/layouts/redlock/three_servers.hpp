// Clients of a Redlock whose three servers are the simulator's models: "model", "second", "third".
#pragma once
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "tests/unit/backend/redis/on_model.hpp"

namespace holdfast::redis {

struct three_servers : on_model {
  // They have run for longer than any lease. Their numbers, if given, were reached earlier.
  explicit three_servers(std::array<std::int64_t, 3> numbers = {1000, 1000, 1000}) {
    pass(std::chrono::seconds(62));
    for (std::size_t i = 0; i < 3; ++i)
      if (numbers[i] > 0)
        command_at(*all[i], {"HSET", record, "number", std::to_string(numbers[i]), "max-ttl",
                             "60000", "begun-at", all[i]->run_id()});
  }

  client open(std::string_view options = {}) {
    client out = open_url("redlock://model,second,third?" + std::string(options));
    pass(std::chrono::seconds(1));  // a majority has opened it; now all are connected
    return out;
  }
  // A lease whose connections for renewals are open.
  lease held_by_hand(const mutex& m) {
    lease out = m.acquire({.renew = renewal::manual});
    out.extend(std::chrono::seconds(30));
    pass(std::chrono::seconds(1));
    return out;
  }
  // Out of reach from here on.
  void kill(sim::model_redis& server) {
    dead.push_back(&server);
    server.restart(sim::kept::everything);
  }
  std::int64_t number_at(sim::model_redis& server) {
    const std::string_view text = server.field_at(record, "number");
    return text.empty() ? 0 : std::stoll(std::string(text));
  }
  // `server` was a replica of `of` for a moment: it has the other's record, and no lock of its own.
  void copy_record(sim::model_redis& server, sim::model_redis& of) {
    const std::string number(of.field_at(record, "number")), begun(of.field_at(record, "begun-at"));
    server.flushall();
    command_at(server, {"HSET", record, "number", number, "max-ttl", "60000", "begun-at", begun});
  }
  // The same, while the other has lost its record.
  void copy_loss(sim::model_redis& server, sim::model_redis& of) {
    const std::string since(of.field_at(record, "gone-since")), at(of.field_at(record, "gone-at"));
    server.flushall();
    command_at(server, {"HSET", record, "gone-since", since, "gone-at", at});
  }
  std::size_t count_at(std::int64_t number) {
    std::size_t out = 0;
    for (sim::model_redis* const s : all) out += number_at(*s) >= number;
    return out;
  }

  std::size_t servers_with(std::string_view key) {
    return static_cast<std::size_t>(
        std::ranges::count_if(all, [&](auto* s) { return bool(s->string_at(key)); }));
  }

  static constexpr std::string_view record = "holdfast:redlock";
  static constexpr std::int64_t turns = 1024;  // a token is the number of the grant, and its turn
  std::array<sim::model_redis*, 3> all{&model, &second, &third};
};

// An attempt gets the votes of the first two servers. The first one then loses the lock, and the
// second one has the larger number. The third server answers late, with a small number.
struct late_third_server : three_servers {
  late_third_server() : three_servers({100, 200, 50}) {
    stopped = {&third};
    changed = [this](std::string bytes) {
      command({"DEL", "x"});
      return bytes;
    };
    at(std::chrono::milliseconds(100), [this] { stopped.clear(), changed = {}; });
  }

  client attempting = open();
};

}  // namespace holdfast::redis
