#include "tests/sim/redis/compared/random_claims.hpp"

#include <utility>

#include "backend/redis/layouts/scripts.hpp"

namespace holdfast::sim {
namespace {

namespace scripts = redis::string::scripts;

const std::string lock = "lock", line = "holdfast:{lock}:lock:q", known = "holdfast:{lock}:lock:m",
                  members = "holdfast:{lock}:lock:r", permits = "holdfast:{lock}:lock:p",
                  counter = "holdfast:n";
const std::string other = "other", line_of_other = "holdfast:{other}:other:q";
const std::string ttl = "200000", window = "100000";  // ms: none lapses during a test

command_words by_hash(const redis::script& s, command_words rest) {
  rest.insert(rest.begin(), {"EVALSHA", std::string(s.sha1)});
  return rest;
}

}  // namespace

std::string random_claims::any_owner() { return below(2) == 0 ? owner() : member(); }

// One or two permits.
std::string random_claims::member() {
  constexpr std::size_t last_digit_of_permits = 4 + 16 + 1 + 15;
  std::string id = member_ + owner().substr(4);
  if (member_ == "hfp:") id[last_digit_of_permits] = below(2) == 0 ? '1' : '2';
  return id;
}

std::string random_claims::owner() {
  const std::string client = below(2) == 0 ? "0000000000000001" : "0000000000000002";
  return "hf1:" + client + ":" + std::string(31, '0') + std::to_string(below(2));
}

command_words random_claims::call(const redis::script& s, std::vector<std::string> arguments) {
  command_words command{below(20) == 0 ? "EVAL" : "EVALSHA", std::string(s.sha1), "6"};
  if (command.front() == "EVAL") command[1] = s.text;
  for (const auto& key : {lock, line, known, counter, members, permits}) command.push_back(key);
  for (auto& one : arguments) command.push_back(std::move(one));
  return command;
}

command_words random_claims::any_script() {
  switch (below(100) < alone_ ? below(10) : 8 + below(10)) {
    case 10:
    case 11:
    case 12:
    case 13:
      return call(scripts::member_lock_or_queue,
                  {member(), ttl, window, below(4) == 0 ? "1700000000000001" : "",
                   below(2) == 0 ? "1" : "", below(4) == 0 ? "1" : "", below(6) == 0 ? "2" : "3",
                   below(2) == 0 ? "note" : ""});
    case 14:
    case 15: return call(scripts::member_release, {member()});
    case 16: return call(scripts::downgrade, {owner(), "1700000000000002"});
    case 17:
      return by_hash(scripts::lock_all,
                     {"5", counter, lock, line, other, line_of_other, ttl, owner(), owner()});
    case 0:
    case 1:
    case 2:
      return call(scripts::lock_or_queue,
                  {owner(), ttl, window, below(4) == 0 ? "1700000000000001" : "",
                   below(2) == 0 ? "1" : ""});
    case 3:
    case 4:
    case 5: return call(scripts::release, {owner(), below(2) == 0 ? owner() : "", ttl, window});
    case 6:
      if (below(4) == 0)
        return by_hash(scripts::release_uncontended,
                       {"4", lock, other, line, line_of_other, owner(), owner()});
      if (below(2) == 0) return by_hash(scripts::release_uncontended, {"2", lock, line, owner()});
      return call(scripts::withdraw, {any_owner()});
    case 7: {
      const bool of_members = below(2) == 0;
      const redis::script& s = of_members ? scripts::renew_members : scripts::renew;
      command_words renew{"EVALSHA", std::string(s.sha1), of_members ? "3" : "2", lock};
      if (of_members) renew.push_back(members);
      for (const auto& word :
           {known, of_members ? member() : owner(), ttl, std::string(below(2) == 0 ? "note" : "")})
        renew.push_back(word);
      return renew;
    }
    case 8: return call(scripts::resolve, {owner(), ttl});
    default: return call(scripts::break_lock, {any_owner()});
  }
}

void random_claims::add_take(std::vector<command_words>& commands) {
  commands.push_back({"MULTI"});
  commands.push_back({"SET", lock, owner(), "NX", "PX", ttl});
  commands.push_back({"INCR", counter});
  commands.push_back({"EXEC"});
}

command_words random_claims::meddling() {
  switch (below(9)) {
    case 8: return {"DEL", below(2) == 0 ? members : permits};
    case 0: return {"SET", lock, "somebody", "NX"};
    case 1: return {"SET", lock, "somebody", "NX", "PX", ttl};
    case 2: return {"DEL", lock};
    case 3: return {"HSET", lock, "another", "type"};
    case 4: return {"CONFIG", "SET", "maxmemory", below(2) == 0 ? "1" : "0"};
    case 5: return {"SET", counter, below(2) == 0 ? "9000000000000000" : "1"};
    case 6: return {"EVAL", std::string(scripts::raise_counter.text), "1", counter};
    default: return {"ZRANGE", line, "0", "-1"};
  }
}

std::vector<command_words> random_claims::list() {
  std::vector<command_words> commands;
  const bool readers = below(2) == 0;
  member_ = readers ? "hfs:" : "hfp:";
  alone_ = readers ? 50 : 10;
  for (const redis::script* const s :
       {&scripts::lock_or_queue, &scripts::release, &scripts::withdraw, &scripts::renew,
        &scripts::resolve, &scripts::break_lock, &scripts::release_uncontended,
        &scripts::release_with_successor, &scripts::member_lock_or_queue, &scripts::member_release,
        &scripts::renew_members, &scripts::downgrade, &scripts::lock_all})
    commands.push_back({"SCRIPT", "LOAD", std::string(s->text)});
  if (below(2) == 0)
    commands.push_back({"EVAL", std::string(scripts::raise_counter.text), "1", counter});
  for (int left = below(20) + 5; left > 0; --left) {
    const int kind = below(10);
    if (kind == 0) {
      commands.push_back(meddling());
    } else if (kind < 3 && below(100) < alone_) {
      add_take(commands);
    } else {
      commands.push_back(any_script());
    }
  }
  commands.push_back({"CONFIG", "SET", "maxmemory", "0"});
  for (const auto& [read, key] : {std::pair{"GET", lock},
                                  {"GET", other},
                                  {"ZCARD", line},
                                  {"ZCARD", members},
                                  {"HGETALL", known},
                                  {"HGETALL", permits}})
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
