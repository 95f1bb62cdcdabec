// The scripts of random_commands.
#include "tests/sim/redis/compared/random_commands.hpp"
#include "tests/sim/redis/model/sha1.hpp"

namespace holdfast::sim {

// A call on KEYS and ARGV, of which a script gets five and three.
std::string random_commands::script_call() {
  const std::string how = chance(75) ? "redis.call(" : "redis.pcall(";
  switch (below(27)) {
    case 0: return how + "'SET', KEYS[1], ARGV[1], 'NX', 'PX', '100000')";
    case 1: return how + "'SET', KEYS[1], ARGV[2])";
    case 2: return how + "'GET', KEYS[" + any("1", "2", "3", "4", "5") + "])";
    case 3: return how + "'INCR', KEYS[2])";
    case 4: return how + "'INCRBY', KEYS[2], " + any("2", "2^40", "1.5", "'x'") + ")";
    case 5: return how + "'DEL', KEYS[" + any("1", "2", "3", "4", "5") + "])";
    case 6: return how + "'ZADD', KEYS[3], 'NX', " + any("1", "0.1", "2^60", "'a'") + ", ARGV[1])";
    case 7: return how + "'ZREM', KEYS[3], ARGV[1])";
    case 8: return how + "'ZRANGE', KEYS[3], 0, -1, 'WITHSCORES')";
    case 9: return how + "'ZPOPMIN', KEYS[3])";
    case 10: return how + "'HSET', KEYS[4], ARGV[1], ARGV[2], 'n', 7)";
    case 11: return how + "'HMGET', KEYS[4], ARGV[1], 'none', 'n')";
    case 12: return how + "'HDEL', KEYS[4], ARGV[2], 'n')";
    case 13: return how + "'PUBLISH', '" + any("one", "two") + "', ARGV[3])";
    case 14: return how + "'PEXPIRE', KEYS[1], " + any("100000", "0", "-1") + ")";
    case 15: return how + "'TYPE', KEYS[" + any("1", "2", "3", "4", "5") + "])";
    case 16: return how + "'EXISTS', KEYS[1], KEYS[2])";
    case 17: return how + "'ZSCORE', KEYS[3], ARGV[1])";
    case 18: return "#" + how + "'TIME')";
    case 19: return how + "'HINCRBY', KEYS[4], ARGV[1], " + any("1", "-1", "ARGV[2]") + ")";
    case 20: return how + "'HEXISTS', KEYS[" + any("4", "4", "1") + "], ARGV[1])";
    case 21: return how + "'HKEYS', KEYS[4])";
    case 22: return how + "'RPUSH', KEYS[5], ARGV[1])";
    case 23: return how + any("'LPOP'", "'LLEN'") + ", KEYS[" + any("5", "5", "4") + "])";
    case 24: return how + "'LREM', KEYS[5], 0, ARGV[1])";
    case 25: return how + "'LINDEX', KEYS[" + any("5", "3") + "], 0)";
    case 26: return how + "'ZINCRBY', KEYS[3], -2, ARGV[1])";
    default:
      return how +
             any("'NOSUCH'", "'GET'", "'MULTI'", "'SUBSCRIBE', 'x'", "", "'GET', {}",
                 "'ECHO', true", "'SELECT', 1", "'CLIENT', 'ID'", "'HGET', KEYS[1], 'x'") +
             ")";
  }
}

std::string random_commands::script_line() {
  const std::string keep = "r[#r+1] = ";
  switch (below(14)) {
    case 0: return "if redis.call('GET', KEYS[1]) == ARGV[1] then " + keep + script_call() + " end";
    case 1: return "if redis.call('EXISTS', KEYS[3]) == 1 then " + keep + script_call() + " end";
    case 2: return keep + "tostring(" + script_call() + " == false)";
    case 3:
      return "local fine, e = pcall(redis.call, 'HGET', KEYS[1], 'x') " + keep + "tostring(fine) " +
             keep + "fine and 'fine' or tostring(e)";
    case 4: return keep + "string.format('%.0f', redis.call('INCR', KEYS[2]))";
    case 5:
      return keep + any("3.7", "-3.7", "true", "false", "'text'", "{}", "{1,{2,'x'}}",
                        "{ok='fine'}", "{err='BAD one'}", "2^53", "1e18", "#ARGV");
    case 6: return keep + "redis.sha1hex(ARGV[1])";
    case 7: return "local t = redis.call('PTTL', KEYS[1]) " + keep + "t > 0 and 'some' or t";
    default: return keep + script_call();
  }
}

command_words random_commands::script() {
  if (chance(15))
    return {"EVALSHA", chance(80) ? sha1_hex(last_script_) : any("x", "", "0"),
            "5",       "text",
            "count",   "set",
            "hash",    "list",
            word(),    word(),
            word()};
  if (chance(5)) return {"SCRIPT", "LOAD", chance(80) ? last_script_ : any("return (", "", "1")};
  if (chance(5)) return {"SCRIPT", "EXISTS", sha1_hex(last_script_), "x"};
  std::string text = "local r = {}\n";
  for (int lines = below(5) + 1; lines > 0; --lines) text += script_line() + "\n";
  text += chance(70) ? "return r"
                     : any("return r[1]", "return nil", "return redis.error_reply('MY own')",
                           "return redis.error_reply('alone')", "return redis.status_reply('so')",
                           "return redis.error_reply()", "undeclared = 1", "return undeclared",
                           "error('thrown')", "error({err='THROWN table'})", "return nil + 1",
                           "redis.call('SET', KEYS[1], 'x') return redis.call('HGET', KEYS[1], 1)",
                           "return {1, nil, 3}", "return r, 2", "KEYS = {}");
  last_script_ = text;
  return {"EVAL",      text,         chance(95) ? "5" : any("0", "9", "-1", "x", "3"),
          key("text"), key("count"), key("set"),
          key("hash"), key("list"),  word(),
          word(),      word()};
}

}  // namespace holdfast::sim
