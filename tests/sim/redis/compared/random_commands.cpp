#include "tests/sim/redis/compared/random_commands.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tests/sim/redis/model/sha1.hpp"

namespace holdfast::sim {

std::string random_commands::key(std::string_view usual) {
  return chance(85) ? std::string(usual) : any("text", "count", "set", "hash", "list", "none");
}

std::string random_commands::word() {
  if (chance(5)) return std::string(static_cast<std::size_t>(below(60)), 'w');
  if (chance(3)) return std::string("\0\r\n\xff", 4);
  return any("a", "b", "c", "alpha", "beta", "", "0", "10");
}

std::string random_commands::number() {
  if (chance(10))
    return any("", "x", "01", "+1", " 1", "1.5", "-0", "9223372036854775807",
               "-9223372036854775808", "9223372036854775808");
  return std::to_string(below(30) - 5);
}

std::string random_commands::score() {
  if (chance(20))
    return any("inf", "-inf", "nan", "", "x", "1e3", "0.1", "-2.5", "1e400", "0x10", "3.0", " 1",
               "123456789012345678", "1e21");
  return number();
}

command_words random_commands::of_strings() {
  switch (below(7)) {
    case 4: return {"SETNX", key("text"), word()};
    case 5: return {"GETSET", key("text"), word()};
    case 6: return {"DECR", key("count")};
    case 0: return {"GET", key("text")};
    case 1: return {"INCR", key("count")};
    case 2: return {"INCRBY", key("count"), number()};
    default: break;
  }
  command_words set{"SET", chance(30) ? "count" : key("text"), chance(30) ? number() : word()};
  for (int options = below(4); options > 0; --options) {
    const std::string option = any("NX", "XX", "GET", "KEEPTTL", "PX", "ex", "PXAT", "bad");
    set.push_back(option);
    if (option == "PX" || option == "ex")
      set.push_back(chance(90) ? "100000000" : any("0", "-1", "x", "9223372036854775807"));
    if (option == "PXAT" && !chance(5)) set.push_back("99999999999999");
  }
  return set;
}

command_words random_commands::of_keys() {
  const std::string k = key(any("text", "count", "set", "hash", "list"));
  switch (below(7)) {
    case 0: return {"DEL", k, key("none")};
    case 1: return {"EXISTS", k, k, "none"};
    case 2: return {"TYPE", k};
    case 3: return {any("PTTL", "TTL"), k};
    case 4: return {"PERSIST", k};
    case 5: return {any("PEXPIREAT", "pexpireat"), k, any("99999999999999", "1", "x")};
    default: break;
  }
  command_words expire{any("PEXPIRE", "EXPIRE"), k,
                       chance(80) ? any("100000000", "200000000") : number()};
  if (expire.back().size() < 6 && expire.back() > "0" && expire.back() != "x")
    expire.back() = "-" + expire.back();
  for (int options = std::max(below(5) - 2, 0); options > 0; --options)
    expire.push_back(any("NX", "XX", "GT", "lt", "bad"));
  return expire;
}

command_words random_commands::of_sets() {
  const std::string k = key("set");
  switch (below(10)) {
    case 9: return {"ZINCRBY", k, score(), word()};
    case 0: return {"ZREM", k, word(), word()};
    case 1: return {"ZCARD", k};
    case 2: return {"ZSCORE", k, word()};
    case 3: return {"ZRANK", k, word()};
    case 4: return chance(50) ? command_words{"ZPOPMIN", k} : command_words{"ZPOPMIN", k, number()};
    case 5:
    case 6: {
      command_words range{"ZRANGE", k, number(), number()};
      for (int options = std::max(below(4) - 1, 0); options > 0; --options)
        range.push_back(any("WITHSCORES", "withscores", "REV", "REV", "bad"));
      return range;
    }
    default: break;
  }
  command_words add{"ZADD", k};
  for (int options = std::max(below(5) - 2, 0); options > 0; --options)
    add.push_back(any("NX", "XX", "GT", "LT", "ch", "INCR"));
  for (int pairs = below(3) + 1; pairs > 0; --pairs) {
    add.push_back(score());
    add.push_back(word());
  }
  if (chance(3)) add.pop_back();
  return add;
}

command_words random_commands::of_hashes() {
  const std::string k = key("hash");
  switch (below(11)) {
    case 9: return {any("HKEYS", "HVALS"), k};
    case 10: return {"HSETNX", k, word(), word()};
    case 0: return {"HGET", k, word()};
    case 1: return {"HMGET", k, word(), word(), word()};
    case 2: return {"HDEL", k, word(), word()};
    case 3: return {"HLEN", k};
    case 4: return {"HEXISTS", k, word()};
    case 5: return {"HGETALL", k};
    case 6: return {"HINCRBY", k, any("a", "0", "10", "n"), number()};
    case 7: return {"HSCAN", k, "0", "COUNT", "100"};
    default: break;
  }
  command_words set{"HSET", k};
  for (int pairs = below(3) + 1; pairs > 0; --pairs) {
    set.push_back(word());
    set.push_back(chance(40) ? number() : word());
  }
  if (chance(5)) set.push_back("odd");
  return set;
}

command_words random_commands::of_lists() {
  const std::string k = key("list");
  switch (below(10)) {
    case 9: return {"LINSERT", k, any("BEFORE", "after", "bad"), word(), word()};
    case 0: {
      command_words pop{any("LPOP", "RPOP"), k};
      if (chance(30)) pop.push_back(number());
      if (chance(3)) pop.push_back("1");
      return pop;
    }
    case 1: return {"LREM", k, chance(70) ? any("0", "1", "-1", "2") : number(), word()};
    case 2: return {"LINDEX", k, chance(70) ? any("0", "-1", "1") : number()};
    case 3:
    case 4: return {"LRANGE", k, number(), chance(40) ? "-1" : number()};
    case 5: return {"LLEN", k};
    default: break;
  }
  command_words add{any("RPUSH", "RPUSH", "LPUSH"), k};
  for (int n = below(3) + 1; n > 0; --n) add.push_back(word());
  return add;
}

command_words random_commands::of_server() {
  switch (below(12)) {
    case 0: return {"PING"};
    case 1: return {"PING", word()};
    case 2: return {"DBSIZE"};
    case 3: return {"SCAN", "0", "COUNT", "1000"};
    case 4:
      return {"SCAN",  any("0", "x"),
              "MATCH", any("*t*", "[a-h]*", "?ext", "\\text", "[^c]*"),
              "count", chance(80) ? "1000" : any("0", "-1", "x"),
              "TYPE",  any("string", "zset", "hash", "list")};
    case 5: return {"PUBLISH", any("one", "two", "three"), word()};
    case 6: return {"SELECT", any("0", "0", "1", "16", "-1", "x")};
    case 7: return {"CLIENT", any("SETNAME", "setname"), any("me", "bad name", "")};
    case 8: return {"CLIENT", "GETNAME"};
    case 9: return {"WAIT", "0", chance(80) ? "0" : "x"};
    case 10: return {"CONFIG", "GET", any("maxmemory-policy", "maxmemory-p*")};
    default: return {"ECHO", word()};
  }
}

command_words random_commands::nonsense() {
  switch (below(8)) {
    case 0: return {any("NOSUCH", "nosuch|x", "GETT", ""), word(), word()};
    case 1: return {any("GET", "SET", "HSET", "ZADD", "INCR", "PUBLISH", "CLIENT", "SCRIPT")};
    case 2: return {"CLIENT", any("NOSUCH", "", "KILL", "SETNAME")};
    case 3: return {any("EXEC", "DISCARD", "MULTI", "UNSUBSCRIBE")};
    case 4: return {"GET", "a", "b"};
    case 5: return {"AUTH", any("x", "default")};
    case 6: return {"SCRIPT", any("LOAD", "EXISTS", "NO")};
    default: return {"FLUSHALL", any("ASYNC", "sync", "bad")};
  }
}

command_words random_commands::simple() {
  const int kind = below(100);
  if (kind < 22) return of_strings();
  if (kind < 34) return of_keys();
  if (kind < 51) return of_sets();
  if (kind < 64) return of_hashes();
  if (kind < 73) return of_lists();
  if (kind < 81) return of_server();
  if (kind < 84) return nonsense();
  return script();
}

std::vector<command_words> random_commands::subscriber() {
  std::vector<command_words> commands;
  if (chance(20)) commands.push_back({"UNSUBSCRIBE"});
  if (chance(80)) commands.push_back({"SUBSCRIBE", "one"});
  if (chance(50)) commands.push_back({"SUBSCRIBE", "two", any("one", "two", "three")});
  if (chance(20)) commands.push_back({"UNSUBSCRIBE", any("one", "three", "four"), "five"});
  if (chance(10)) commands.push_back({any("GET", "NOSUCH"), "text"});
  if (chance(10)) commands.push_back({"PING"});
  return commands;
}

// A MULTI and what ends it. Within, the bounds of what an answer may depend on are narrower.
void random_commands::add_group(std::vector<command_words>& commands) {
  commands.push_back({"MULTI"});
  for (int inside = below(6); inside > 0; --inside) {
    command_words one = simple();
    if (one.front() == "PTTL" || one.front() == "TTL" || one.front() == "SCAN") continue;
    commands.push_back(std::move(one));
  }
  commands.push_back({chance(90) ? "EXEC" : "DISCARD"});
}

std::vector<command_words> random_commands::list() {
  std::vector<command_words> commands;
  const std::size_t length = static_cast<std::size_t>(below(16)) + 5;
  while (commands.size() < length) {
    command_words one = simple();
    if (chance(8) || one.front() == "MULTI") {
      add_group(commands);
    } else {
      commands.push_back(std::move(one));
    }
  }
  const auto somewhere = [&] {
    return commands.begin() + static_cast<std::ptrdiff_t>(below(static_cast<int>(length)));
  };
  commands.push_back({"DISCARD"});
  if (chance(8)) {
    commands.insert(somewhere(), {"CONFIG", "SET", "maxmemory", "1"});
    commands.push_back({"CONFIG", "SET", "maxmemory", "0"});
  }
  if (chance(5)) {
    // Not within a MULTI, from which the real one has been seen not to return.
    commands.insert(somewhere(), {{"DISCARD"}, {"REPLICAOF", "127.0.0.1", "1"}});
    commands.push_back({"REPLICAOF", "no", "one"});
  }
  commands.push_back({"SELECT", "0"});
  commands.push_back({"FLUSHALL"});
  if (chance(1)) commands.push_back({"SCRIPT", "FLUSH"});
  return commands;
}

}  // namespace holdfast::sim
