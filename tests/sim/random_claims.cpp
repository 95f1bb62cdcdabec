#include "tests/sim/random_claims.hpp"

#include <utility>

namespace holdfast::sim {
namespace {

using redis::script_name;

const std::string lock = "lock", line = "holdfast:{lock}:lock:q", known = "holdfast:{lock}:lock:m",
                  counter = "holdfast:n";
const std::string ttl = "200000", window = "100000";  // ms: none lapses during a test

}  // namespace

std::string random_claims::owner() {
  const std::string client = below(2) == 0 ? "0000000000000001" : "0000000000000002";
  return "hf1:" + client + ":" + std::string(31, '0') + std::to_string(below(2));
}

command_words random_claims::call(script_name name, std::vector<std::string> arguments) {
  const redis::script& s = redis::script_of(name);
  command_words command{"EVALSHA", std::string(s.sha1), "4", lock, line, known, counter};
  if (below(20) == 0) command = {"EVAL", std::string(s.text), "4", lock, line, known, counter};
  for (auto& one : arguments) command.push_back(std::move(one));
  return command;
}

command_words random_claims::any_script() {
  switch (below(10)) {
    case 0:
    case 1:
    case 2:
      return call(script_name::join, {owner(), ttl, window, below(4) == 0 ? "1700000000000001" : "",
                                      below(2) == 0 ? "1" : ""});
    case 3:
    case 4:
    case 5: return call(script_name::release, {owner(), below(2) == 0 ? owner() : "", ttl, window});
    case 6:
      if (below(2) == 0)
        return {"EVALSHA", std::string(redis::script_of(script_name::let_go).sha1), "2", lock, line,
                owner()};
      return call(script_name::leave, {owner()});
    case 7: {
      auto renew = call(script_name::renew, {owner(), ttl, below(2) == 0 ? "note" : ""});
      renew[2] = "2";
      renew.erase(renew.begin() + 4);
      renew.erase(renew.begin() + 5);
      return renew;
    }
    case 8: return call(script_name::resolve, {owner(), ttl});
    default: return call(script_name::take_away, {owner()});
  }
}

void random_claims::add_take(std::vector<command_words>& commands) {
  commands.push_back({"MULTI"});
  commands.push_back({"SET", lock, owner(), "NX", "PX", ttl});
  commands.push_back({"INCR", counter});
  commands.push_back({"EXEC"});
}

command_words random_claims::meddling() {
  switch (below(8)) {
    case 0: return {"SET", lock, "somebody", "NX"};
    case 1: return {"SET", lock, "somebody", "NX", "PX", ttl};
    case 2: return {"DEL", lock};
    case 3: return {"HSET", lock, "another", "type"};
    case 4: return {"CONFIG", "SET", "maxmemory", below(2) == 0 ? "1" : "0"};
    case 5: return {"SET", counter, below(2) == 0 ? "9000000000000000" : "1"};
    case 6: return {"EVAL", std::string(redis::script_of(script_name::raise).text), "1", counter};
    default: return {"ZRANGE", line, "0", "-1"};
  }
}

std::vector<command_words> random_claims::list() {
  std::vector<command_words> commands;
  for (const auto name :
       {script_name::join, script_name::release, script_name::leave, script_name::renew,
        script_name::resolve, script_name::take_away, script_name::let_go, script_name::pass})
    commands.push_back({"SCRIPT", "LOAD", std::string(redis::script_of(name).text)});
  if (below(2) == 0)
    commands.push_back(
        {"EVAL", std::string(redis::script_of(script_name::raise).text), "1", counter});
  for (int left = below(20) + 5; left > 0; --left) {
    const int kind = below(10);
    if (kind == 0) {
      commands.push_back(meddling());
    } else if (kind < 3) {
      add_take(commands);
    } else {
      commands.push_back(any_script());
    }
  }
  commands.push_back({"CONFIG", "SET", "maxmemory", "0"});
  for (const auto& [read, key] : {std::pair{"GET", lock}, {"ZCARD", line}, {"HGETALL", known}})
    commands.push_back({read, key});
  commands.push_back({"FLUSHALL"});
  return commands;
}

std::vector<command_words> random_claims::subscriber() {
  switch (below(3)) {
    case 0: return {};
    case 1: return {{"SUBSCRIBE", "hf:0000000000000001"}};
    default: return {{"SUBSCRIBE", "hf:0000000000000001", "hf:0000000000000002"}};
  }
}

}  // namespace holdfast::sim
