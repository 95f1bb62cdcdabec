#include "torture/redis_refusals.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

namespace holdfast::torture {

using namespace std::chrono_literals;
using testkit::redis_reply;
using testkit::redis_server;

namespace {

constexpr auto snapshot_bound = 10s, script_bound = 10s, answer_bound = 20s;

using redis_words = std::vector<std::string>;

void send_all(redis_server& server, const std::vector<redis_words>& commands) {
  for (const redis_words& command : commands) send_until_answered(server, command);
}

// From the first commands to the last ones.
void for_a_while(redis_server& server, const std::vector<redis_words>& begin,
                 const std::vector<redis_words>& end, std::chrono::milliseconds time) {
  try {
    send_all(server, begin);
  } catch (const testkit::redis_silent&) {
    send_all(server, end);
    throw;
  }
  std::this_thread::sleep_for(time);
  send_all(server, end);
}

std::function<void(dice&)> with_commands(server_choice choose, std::chrono::milliseconds longest,
                                         std::vector<redis_words> begin,
                                         std::vector<redis_words> end) {
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
  for_a_while(server, {{"CONFIG", "SET", "save", "3600 1000000"}}, {{"CONFIG", "SET", "save", ""}},
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

// The server pauses for each key. It answers after each kilobyte.
void load_slowly(redis_server& server, std::chrono::microseconds time) {
  const auto keys = std::max(1LL, send_until_answered(server, {"DBSIZE"}).number);
  send_all(server, {{"CONFIG", "SET", "loading-process-events-interval-bytes", "1024"},
                    {"CONFIG", "SET", "key-load-delay", std::to_string(time.count() / keys)}});
  try {
    server.command({"DEBUG", "RELOAD"});
  } catch (const testkit::redis_silent&) {
    // It has executed the command all the same.
  }
  send_until_answered(server, {"CONFIG", "SET", "key-load-delay", "0"});
}

}  // namespace

redis_reply send_until_answered(redis_server& server, const std::vector<std::string>& command) {
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

std::vector<fault> redis_refusals(const server_choice& choose, std::chrono::milliseconds longest) {
  const auto refused_by = [&](std::vector<redis_words> begin, std::vector<redis_words> end) {
    return with_commands(choose, longest, std::move(begin), std::move(end));
  };
  return {
      {"snapshot.fail",
       [choose, longest](dice& d) {
         redis_server& server = choose(d);
         fail_a_snapshot(server, d.between(50ms, longest));
       }},
      {"memory.fill",
       refused_by({{"CONFIG", "SET", "maxmemory", "1"}}, {{"CONFIG", "SET", "maxmemory", "0"}})},
      {"replicas.missing", refused_by({{"CONFIG", "SET", "min-replicas-to-write", "5"}},
                                      {{"CONFIG", "SET", "min-replicas-to-write", "0"}})},
      {"access.deny", refused_by({{"ACL", "SETUSER", "default", "-@all"}},
                                 {{"ACL", "SETUSER", "default", "+@all"}})},
      {"password.change", refused_by({{"CONFIG", "SET", "requirepass", "secret"},
                                      {"CLIENT", "KILL", "TYPE", "normal"},
                                      {"CLIENT", "KILL", "TYPE", "pubsub"}},
                                     {{"CONFIG", "SET", "requirepass", ""}})},
  };
}

fault redis_idle_limit(server_choice choose) {
  return {"clients.idle", [choose = std::move(choose)](dice& d) {
            redis_server& server = choose(d);
            for_a_while(server, {{"CONFIG", "SET", "timeout", "1"}},
                        {{"CONFIG", "SET", "timeout", "0"}}, d.between(1500ms, 4s));
          }};
}

fault redis_client_limit(server_choice choose, std::chrono::milliseconds longest) {
  constexpr const char* none_but_this = "1";
  return {"clients.limit", with_commands(std::move(choose), longest,
                                         {{"CONFIG", "SET", "maxclients", none_but_this},
                                          {"CLIENT", "KILL", "TYPE", "normal"},
                                          {"CLIENT", "KILL", "TYPE", "pubsub"}},
                                         {{"CONFIG", "SET", "maxclients", "1000"}})};
}

fault redis_long_script(server_choice choose, std::chrono::milliseconds longest) {
  return {"script.busy", [choose = std::move(choose), longest](dice& d) {
            redis_server& server = choose(d);
            run_a_long_script(server, d.between(50ms, longest));
          }};
}

fault redis_loading(server_choice choose, std::chrono::milliseconds longest) {
  return {"server.loading", [choose = std::move(choose), longest](dice& d) {
            redis_server& server = choose(d);
            load_slowly(server, d.between(50ms, longest));
          }};
}

std::vector<fault> redis_demotions(const server_choice& choose, std::chrono::milliseconds longest) {
  const redis_words demote = {"REPLICAOF", "127.0.0.1", "1"}, promote = {"REPLICAOF", "NO", "ONE"};
  const auto serve_stale = [](const char* value) {
    return redis_words{"CONFIG", "SET", "replica-serve-stale-data", value};
  };
  return {
      {"server.demote", with_commands(choose, longest, {demote}, {promote})},
      {"server.master-down",
       with_commands(choose, longest, {serve_stale("no"), demote}, {promote, serve_stale("yes")})},
  };
}

fault redis_eviction(server_choice choose, std::chrono::milliseconds longest,
                     std::chrono::milliseconds excuse) {
  return {"keys.evict",
          [choose = std::move(choose), longest](dice& d) {
            redis_server& server = choose(d);
            const char* const policy = d.one_in(2) ? "allkeys-random" : "volatile-random";
            for_a_while(server,
                        {{"CONFIG", "SET", "maxmemory-policy", policy},
                         {"CONFIG", "SET", "maxmemory", "1"}},
                        {{"CONFIG", "SET", "maxmemory", "0"},
                         {"CONFIG", "SET", "maxmemory-policy", "noeviction"}},
                        d.between(50ms, longest));
          },
          excuse};
}

}  // namespace holdfast::torture
