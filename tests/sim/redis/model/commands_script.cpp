// EVAL and its kin.
#include <algorithm>
#include <array>
#include <string>

#include "tests/sim/redis/model/command_list.hpp"
#include "tests/sim/redis/model/number_text.hpp"
#include "tests/sim/redis/model/script_engine.hpp"
#include "tests/sim/redis/model/server.hpp"

namespace holdfast::sim {
namespace {

const script* loaded(const server& s, std::string_view sha) {
  const auto found = std::find_if(s.scripts.begin(), s.scripts.end(),
                                  [&](const script* one) { return one->sha == sha; });
  return found == s.scripts.end() ? nullptr : *found;
}

// Null: answered that it is none.
const script* load(call& c, std::string_view text) {
  std::string complaint;
  const script* const s = script_engine::of_this_thread().compile(text, complaint);
  if (!s) {
    c.out.error(complaint);
  } else if (!loaded(c.on, s->sha)) {
    c.on.scripts.push_back(s);
  }
  return s;
}

// How many of the arguments are keys; -1: answered that it cannot be.
long long count_of_keys(call& c) {
  const auto count = whole_number(c.argv[2]);
  if (!count) {
    c.out.error(not_an_integer);
  } else if (*count > static_cast<long long>(c.argv.size()) - 3) {
    c.out.error("ERR Number of keys can't be greater than number of args");
  } else if (*count < 0) {
    c.out.error("ERR Number of keys can't be negative");
  } else {
    return *count;
  }
  return -1;
}

void run_script(call& c, const script& s, long long key_count) {
  const auto rest = c.argv.subspan(3);
  const auto keys = static_cast<std::size_t>(key_count);
  script_engine::of_this_thread().run(s, c, rest.first(keys), rest.subspan(keys));
}

void run_eval(call& c) {
  const long long keys = count_of_keys(c);
  if (keys < 0) return;
  if (const script* const s = load(c, c.argv[1])) run_script(c, *s, keys);
}

std::string lower_sha(std::string_view sha) {
  std::string lower(sha);
  for (char& digit : lower)
    if (digit >= 'A' && digit <= 'Z') digit = static_cast<char>(digit - 'A' + 'a');
  return lower;
}

void run_evalsha(call& c) {
  constexpr std::string_view none = "NOSCRIPT No matching script. Please use EVAL.";
  if (c.argv[1].size() != 40) return c.out.error(none);
  const long long keys = count_of_keys(c);
  if (keys < 0) return;
  const script* s = loaded(c.on, c.argv[1]);
  if (!s) s = loaded(c.on, lower_sha(c.argv[1]));
  s ? run_script(c, *s, keys) : c.out.error(none);
}

void run_script_alone(call& c) {
  c.out.error("ERR wrong number of arguments for 'script' command");
}

void run_script_load(call& c) {
  if (const script* const s = load(c, c.argv[2])) c.out.bulk(s->sha);
}

void run_script_exists(call& c) {
  c.out.array(c.argv.size() - 2);
  for (const auto sha : c.argv.subspan(2)) c.out.integer(loaded(c.on, sha) != nullptr);
}

void run_script_flush(call& c) {
  if (c.argv.size() > 3 ||
      (c.argv.size() == 3 && !same_word(c.argv[2], "sync") && !same_word(c.argv[2], "async")))
    return c.out.error("ERR SCRIPT FLUSH only support SYNC|ASYNC option");
  c.on.scripts.clear();
  c.out.status("OK");
}

constexpr std::array list_of_scripts{
    command{"eval", -3, not_in_scripts, run_eval},
    command{"evalsha", -3, not_in_scripts, run_evalsha},
    command{"script", -2, not_in_scripts | has_subcommands, run_script_alone},
    command{"script|load", 3, not_in_scripts, run_script_load},
    command{"script|exists", -3, not_in_scripts, run_script_exists},
    command{"script|flush", -2, not_in_scripts, run_script_flush},
};

}  // namespace

std::span<const command> script_commands() { return list_of_scripts; }

}  // namespace holdfast::sim
