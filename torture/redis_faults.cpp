#include "torture/redis_faults.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

#include "torture/outages.hpp"

namespace holdfast::torture {

using namespace std::chrono_literals;
using testkit::redis_reply;
using testkit::redis_server;

namespace {

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
            kill_and_start(server, usual_outage(d));
          }};
}

fault redis_stop(server_choice choose) {
  return {"server.stop", [choose](dice& d) {
            redis_server& server = choose(d);
            stop_and_go_on(server, d);
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

std::vector<fault> redis_clocks(const server_choice& choose, std::chrono::milliseconds excuse) {
  const auto ahead = std::make_shared<std::map<const redis_server*, std::chrono::milliseconds>>();
  return {
      {"server.clock",
       [choose, ahead](dice& d) {
         redis_server& server = choose(d);
         const auto before = (*ahead)[&server];
         server.set_clock(d.one_in(2) ? before + redis_clock_step : before - redis_clock_step);
         std::this_thread::sleep_for(d.between(100ms, 2s));
         server.set_clock(before);
       },
       excuse},
      {"server.clock-hour",
       [choose, ahead](dice& d) {
         redis_server& server = choose(d);
         server.set_clock((*ahead)[&server] += 1h);
       },
       excuse},
  };
}

std::vector<std::string> left_in_redis(redis_server& server) {
  std::vector<std::string> lines = connections_of(server);
  for (const redis_reply& channel : server.command({"PUBSUB", "CHANNELS"}).items)
    if (channel.text != "__sentinel__:hello") lines.push_back("the channel " + channel.text);
  std::ranges::move(keys_of(server), std::back_inserter(lines));
  return lines;
}

}  // namespace holdfast::torture
