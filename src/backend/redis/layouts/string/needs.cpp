#include "backend/redis/layouts/string/needs.hpp"

#include "backend/redis/layouts/string/names.hpp"

namespace holdfast::redis {

namespace {

// The commands that are sent, and those that the scripts call.
constexpr required_command commands[] = {
    {"set", "SET holdfast:n 0"},
    {"get", "GET holdfast:n"},
    {"incr", "INCR holdfast:n"},
    {"incrby", "INCRBY holdfast:n 1"},
    {"del", "DEL holdfast:n"},
    {"exists", "EXISTS holdfast:n"},
    {"pttl", "PTTL holdfast:n"},
    {"pexpire", "PEXPIRE holdfast:n 1"},
    {"zadd", "ZADD holdfast:n 0 m"},
    {"zrem", "ZREM holdfast:n m"},
    {"zrange", "ZRANGE holdfast:n 0 0"},
    {"zrank", "ZRANK holdfast:n m"},
    {"zscore", "ZSCORE holdfast:n m"},
    {"zpopmin", "ZPOPMIN holdfast:n"},
    {"zcard", "ZCARD holdfast:n"},
    {"hset", "HSET holdfast:n f v"},
    {"hget", "HGET holdfast:n f"},
    {"hdel", "HDEL holdfast:n f"},
    {"hincrby", "HINCRBY holdfast:n f 1"},
    {"publish", "PUBLISH hf:0 m"},
    {"subscribe", "SUBSCRIBE hf:0"},
    {"scan", "SCAN 0", needed_for::looking},
    {"hscan", "HSCAN holdfast:n 0", needed_for::tidying},
};

}  // namespace

layout_needs needs_of_string() noexcept {
  return {.commands = commands, .counter = counter_key, .has_transactions = true};
}

}  // namespace holdfast::redis
