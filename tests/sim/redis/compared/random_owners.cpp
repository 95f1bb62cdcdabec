#include "tests/sim/redis/compared/random_owners.hpp"

#include <utility>

#include "tests/sim/redis/model/request_parser.hpp"

namespace holdfast::sim {
namespace {

using redis::retrying_operation;

constexpr std::string_view names[] = {"lock", "other"};
const std::string long_ttl = "200000";  // ms: none lapses during a test
constexpr std::int64_t apart_ms = 20'000;

// Of each owner another one: whose lease is the longer does not depend on a millisecond.
base::duration ttl_of(const redis::retrying_owner& o) {
  return std::chrono::milliseconds(std::stoll(long_ttl) +
                                   apart_ms * static_cast<std::int64_t>(o.low & 0xffff));
}

command_words words_of(std::string_view bytes) {
  std::vector<std::string_view> argv;
  std::string complaint;
  parse_request(bytes, argv, complaint);
  return {argv.begin(), argv.end()};
}

}  // namespace

redis::retrying_owner random_owners::owner() {
  // Different in its upper half too, from which permits take their names.
  return {.high = 1, .low = (static_cast<std::uint64_t>(below(4)) + 1) * 0x1'0000'0001};
}

lock_mode random_owners::mode() {
  for (;;) {
    const auto m = static_cast<lock_mode>(below(3));
    if (codec_.facts().can.modes & seam::bit_of(m)) return m;
  }
}

redis::lock_request random_owners::request_of(const redis::retrying_owner& o,
                                              const std::string& text) {
  using namespace std::chrono;
  return {.key = names[below(5) == 0],
          .owner = text,
          .id = o,
          .ttl = ttl_of(o),
          .mode = mode(),
          .may_queue = below(2) == 0,
          .permits = 1,
          .total_permits = 3,
          .wall = floor<microseconds>(system_clock::now().time_since_epoch())};
}

command_words random_owners::operation() {
  constexpr retrying_operation all[] = {retrying_operation::try_lock,
                                        retrying_operation::try_lock,
                                        retrying_operation::resolve,
                                        retrying_operation::release,
                                        retrying_operation::downgrade,
                                        retrying_operation::withdraw};
  const redis::retrying_owner o = owner();
  const std::string text = codec_.text_of(o);
  std::string bytes;
  redis::script_cache by_hash(redis::every_script());
  redis::command_writer out(bytes, by_hash);
  codec_.append(out, all[below(6)], request_of(o, text));
  return bytes.empty() ? renewals() : words_of(bytes);  // not every layout can downgrade
}

command_words random_owners::renewals() {
  const redis::retrying_owner o = owner(), p = owner();
  const std::string first = codec_.text_of(o), second = codec_.text_of(p);
  std::vector<redis::lock_request> all{request_of(o, first), request_of(p, second)};
  if (below(2) == 0) all.pop_back();
  std::string bytes;
  redis::script_cache by_hash(redis::every_script());
  redis::command_writer out(bytes, by_hash);
  codec_.append_renewals(out, all);
  return words_of(bytes);
}

command_words random_owners::query() {
  std::string bytes;
  if (below(3) > 0) {
    codec_.append_holders_query(bytes, names[0]);
  } else {
    codec_.append_break(bytes, names[0], codec_.text_of(owner()));
  }
  return words_of(bytes);
}

command_words random_owners::meddling() {
  const std::string key(names[0]);
  switch (below(9)) {
    case 0: return {"SET", key, "somebody", "NX"};
    case 1: return {"SET", key, "somebody", "NX", "PX", long_ttl};
    case 2: return {"DEL", key};
    case 3: return {"HSET", key, any({"somebody", "mode"}), any({"1", "read", "write", "x"})};
    case 4: return {"HINCRBY", key, codec_.text_of(owner()), "1"};
    case 5: return {"RPUSH", key, "somebody"};
    case 6: return {"CONFIG", "SET", "maxmemory", any({"0", "1"})};
    case 7: return {"PERSIST", key};
    default: return {"PEXPIRE", key, long_ttl};
  }
}

std::vector<command_words> random_owners::list() {
  std::vector<command_words> commands;
  for (const redis::script* const s : codec_.facts().loaded)
    commands.push_back({"SCRIPT", "LOAD", std::string(s->text)});
  for (int left = below(25) + 5; left > 0; --left) {
    const int kind = below(10);
    commands.push_back(kind == 0   ? meddling()
                       : kind == 1 ? renewals()
                       : kind == 2 ? query()
                                   : operation());
  }
  commands.push_back({"CONFIG", "SET", "maxmemory", "0"});
  for (const std::string_view name : names)
    for (const char* const read : {"GET", "HGETALL", "PTTL"})
      commands.push_back({read, std::string(name)});
  commands.push_back({"SCAN", "0", "COUNT", "1000"});
  commands.push_back({"FLUSHALL"});
  return commands;
}

std::vector<command_words> random_owners::subscriber() {
  if (!codec_.facts().rules.has_channel || below(3) == 0) return {};
  const redis::retrying_owner o = owner();
  const std::string text = codec_.text_of(o);
  return {{"SUBSCRIBE", codec_.channel_of(request_of(o, text))}};
}

}  // namespace holdfast::sim
