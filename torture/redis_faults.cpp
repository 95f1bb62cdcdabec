#include "torture/redis_faults.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace holdfast::torture {

using namespace std::chrono_literals;
using testkit::redis_reply;
using testkit::redis_server;

namespace {

constexpr auto redis_outage = 3s, snapshot_bound = 10s, script_bound = 10s, answer_bound = 20s;

using redis_words = std::vector<std::string>;

// A sentinel, or another command of the same fault, may have ended the connection.
redis_reply send_until_answered(redis_server& server, const redis_words& command) {
  const auto until = std::chrono::steady_clock::now() + answer_bound;
  for (;;) {
    try {
      return server.command(command);
    } catch (const testkit::redis_silent&) {
      if (std::chrono::steady_clock::now() >= until) throw;
    }
    std::this_thread::sleep_for(50ms);
  }
}

// From the first commands to the last one.
void for_a_while(redis_server& server, const std::vector<redis_words>& begin,
                 const redis_words& end, std::chrono::milliseconds time) {
  try {
    for (const redis_words& command : begin) send_until_answered(server, command);
  } catch (const testkit::redis_silent&) {
    send_until_answered(server, end);
    throw;
  }
  std::this_thread::sleep_for(time);
  send_until_answered(server, end);
}

std::function<void(dice&)> with_commands(server_choice choose, std::chrono::milliseconds longest,
                                         std::vector<redis_words> begin, redis_words end) {
  return [choose = std::move(choose), longest, begin = std::move(begin),
          end = std::move(end)](dice& d) {
    redis_server& server = choose(d);
    for_a_while(server, begin, end, d.between(50ms, longest));
  };
}

// A folder with the name of the snapshot's file: no snapshot can be written. A durable server does
// not need the file.
class blocked_snapshot {
 public:
  explicit blocked_snapshot(const redis_server& server) : path_(server.data_folder() / "dump.rdb") {
    std::filesystem::remove(path_);
    std::filesystem::create_directory(path_);
  }
  ~blocked_snapshot() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  blocked_snapshot(const blocked_snapshot&) = delete;
  blocked_snapshot& operator=(const blocked_snapshot&) = delete;

 private:
  const std::filesystem::path path_;
};

// Where snapshots are configured, a server refuses writes after one has failed.
void fail_a_snapshot(redis_server& server, std::chrono::milliseconds time) {
  const blocked_snapshot blocked(server);
  const auto until = std::chrono::steady_clock::now() + snapshot_bound;
  while (server.info("rdb_last_bgsave_status") != "err" &&
         std::chrono::steady_clock::now() < until) {
    server.command({"BGSAVE"});
    std::this_thread::sleep_for(5ms);
  }
  for_a_while(server, {{"CONFIG", "SET", "save", "3600 1000000"}}, {"CONFIG", "SET", "save", ""},
              time);
}

void run_a_long_script(redis_server& server, std::chrono::milliseconds time) {
  testkit::redis_link program = server.link();
  send_until_answered(server, {"CONFIG", "SET", "lua-time-limit", "20"});
  program.send({"EVAL", "while true do end", "0"});
  std::this_thread::sleep_for(time);
  // On a busy machine the script may not have begun.
  const auto until = std::chrono::steady_clock::now() + script_bound;
  while (send_until_answered(server, {"SCRIPT", "KILL"}).is_error() &&
         std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(5ms);
  program.receive();
  send_until_answered(server, {"CONFIG", "SET", "lua-time-limit", "5000"});
}

std::vector<std::string> connections_of(redis_server& server) {
  std::vector<std::string> lines;
  std::istringstream all(server.command({"CLIENT", "LIST"}).text);
  for (std::string line; std::getline(all, line);)
    if (line.find(" name=holdfast-") != std::string::npos)
      lines.push_back("the connection " + line);
  return lines;
}

// Counters, and records of a deployment: one for each server or slot.
bool outlives_locks(std::string_view key) {
  return key.starts_with("holdfast:") &&
         (key.ends_with(":n") || key == "holdfast:redlock" || key == "holdfast:shards");
}

std::vector<std::string> keys_of(redis_server& server) {
  std::vector<std::string> lines;
  for (const redis_reply& key : server.command({"KEYS", "*"}).items)
    if (!outlives_locks(key.text))
      lines.push_back("the key " + key.text + " with a ttl of " +
                      to_text(server.command({"PTTL", key.text})) + " ms");
  return lines;
}

}  // namespace

fault redis_kill(server_choice choose) {
  return {"server.kill", [choose](dice& d) {
            redis_server& server = choose(d);
            server.kill_hard();
            std::this_thread::sleep_for(d.between(20ms, 1500ms));
            server.start();
          }};
}

fault redis_stop(server_choice choose) {
  return {"server.stop", [choose](dice& d) {
            redis_server& server = choose(d);
            server.stop();
            std::this_thread::sleep_for(d.between(50ms, redis_outage));
            server.go_on();
          }};
}

std::vector<fault> redis_commands(const server_choice& choose,
                                  std::chrono::milliseconds longest_pause) {
  return {
      {"script.flush",
       [choose](dice& d) {
         choose(d).command({"SCRIPT", "FLUSH"});
       }},
      {"client.kill",
       [choose](dice& d) {
         constexpr std::array<const char*, 2> types = {"normal", "pubsub"};
         choose(d).command({"CLIENT", "KILL", "TYPE", types.at(d.below(types.size()))});
       }},
      {"client.pause",
       [choose, longest_pause](dice& d) {
         const auto pause = d.between(50ms, longest_pause);
         choose(d).command(
             {"CLIENT", "PAUSE", std::to_string(pause.count()), d.one_in(2) ? "ALL" : "WRITE"});
         std::this_thread::sleep_for(pause);
       }},
  };
}

std::vector<fault> redis_refusals(const server_choice& choose, std::chrono::milliseconds longest) {
  const auto refused_by = [&](std::vector<redis_words> begin, redis_words end) {
    return with_commands(choose, longest, std::move(begin), std::move(end));
  };
  return {
      {"snapshot.fail",
       [choose, longest](dice& d) {
         redis_server& server = choose(d);
         fail_a_snapshot(server, d.between(50ms, longest));
       }},
      {"memory.fill",
       refused_by({{"CONFIG", "SET", "maxmemory", "1"}}, {"CONFIG", "SET", "maxmemory", "0"})},
      {"access.deny", refused_by({{"ACL", "SETUSER", "default", "-@all"}},
                                 {"ACL", "SETUSER", "default", "+@all"})},
      {"password.change", refused_by({{"CONFIG", "SET", "requirepass", "secret"},
                                      {"CLIENT", "KILL", "TYPE", "normal"},
                                      {"CLIENT", "KILL", "TYPE", "pubsub"}},
                                     {"CONFIG", "SET", "requirepass", ""})},
  };
}

fault redis_client_limit(server_choice choose, std::chrono::milliseconds longest) {
  constexpr const char* none_but_this = "1";
  return {"clients.limit", with_commands(std::move(choose), longest,
                                         {{"CONFIG", "SET", "maxclients", none_but_this},
                                          {"CLIENT", "KILL", "TYPE", "normal"},
                                          {"CLIENT", "KILL", "TYPE", "pubsub"}},
                                         {"CONFIG", "SET", "maxclients", "1000"})};
}

fault redis_long_script(server_choice choose, std::chrono::milliseconds longest) {
  return {"script.busy", [choose = std::move(choose), longest](dice& d) {
            redis_server& server = choose(d);
            run_a_long_script(server, d.between(50ms, longest));
          }};
}

fault redis_demotion(server_choice choose, std::chrono::milliseconds longest) {
  return {"server.demote",
          with_commands(std::move(choose), longest, {{"REPLICAOF", "127.0.0.1", "1"}},
                        {"REPLICAOF", "NO", "ONE"})};
}

fault redis_clock(server_choice choose, std::chrono::milliseconds excuse) {
  return {"server.clock",
          [choose = std::move(choose)](dice& d) {
            redis_server& server = choose(d);
            server.set_clock(d.one_in(2) ? redis_clock_step : -redis_clock_step);
            std::this_thread::sleep_for(d.between(100ms, 2s));
            server.set_clock(0ms);
          },
          excuse};
}

std::vector<std::string> left_in_redis(redis_server& server) {
  std::vector<std::string> lines = connections_of(server);
  for (const redis_reply& channel : server.command({"PUBSUB", "CHANNELS"}).items)
    if (channel.text != "__sentinel__:hello") lines.push_back("the channel " + channel.text);
  std::ranges::move(keys_of(server), std::back_inserter(lines));
  return lines;
}

}  // namespace holdfast::torture
