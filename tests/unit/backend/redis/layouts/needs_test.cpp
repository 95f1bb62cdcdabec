// The rights that a layout asks for are those of every command that its scripts call.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/redis/layouts/getset/codec.hpp"
#include "backend/redis/layouts/lua/codec.hpp"
#include "backend/redis/layouts/redisson/codec.hpp"
#include "backend/redis/layouts/redisson_fair/codec.hpp"
#include "backend/redis/layouts/redisson_permits/codec.hpp"
#include "backend/redis/layouts/redisson_rw/codec.hpp"
#include "backend/redis/layouts/setnx/codec.hpp"
#include "backend/redis/layouts/string/codec.hpp"
#include "backend/redis/transport/script_cache.hpp"

namespace holdfast::redis {
namespace {

using command_names = std::set<std::string, std::less<>>;

// Of redis.call('GET', ...) and redis.pcall('GET', ...): "get".
command_names called_by(const script& s) {
  constexpr std::string_view call = "call('";
  command_names out;
  for (auto at = s.text.find(call); at != s.text.npos; at = s.text.find(call, at + 1)) {
    const auto from = at + call.size();
    std::string name(s.text.substr(from, s.text.find('\'', from) - from));
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    out.insert(std::move(name));
  }
  return out;
}

// The commands of the scripts for which `needs` asks no right.
command_names without_right(const std::vector<const script*>& scripts, const layout_needs& needs) {
  const std::span<const required_command> of_connections = commands_of_connections;
  command_names named, out;
  for (const std::span<const required_command> all : {needs.commands, of_connections})
    for (const required_command& c : all) named.emplace(c.right);
  for (const script* const s : scripts)
    for (const std::string& name : called_by(*s))
      if (!named.contains(name)) out.insert(name);
  return out;
}

command_names without_right(const retrying_codec& c) {
  std::vector<const script*> scripts(c.facts().loaded.begin(), c.facts().loaded.end());
  for (const script* const s : {c.facts().holders_script, c.facts().break_lock})
    if (s) scripts.push_back(s);
  EXPECT_GE(scripts.size(), 2u);
  return without_right(scripts, c.facts().needs);
}

command_names of_messages_in_cluster(const retrying_codec& c) {
  command_names out;
  for (const required_command& one : c.facts().needs.commands)
    if (one.what == needed_for::messages_in_cluster) out.emplace(one.right);
  return out;
}

TEST(redis_layout_needs, of_string_name_every_command_of_its_scripts) {
  std::vector<const script*> scripts;
  for (const script& s : every_script())
    if (s.name.starts_with("string/")) scripts.push_back(&s);
  EXPECT_GT(scripts.size(), 10u);
  // HMGET is sent for guards, whose keys belong to the program.
  EXPECT_EQ(without_right(scripts, needs_of_string()), command_names{"hmget"});
}

TEST(redis_layout_needs, of_every_codec_name_every_command_of_its_scripts) {
  const command_names none;
  EXPECT_EQ(without_right(lua::codec()), none);
  EXPECT_EQ(without_right(redisson_fair::codec()), none);
  EXPECT_EQ(without_right(redisson_rw::codec("id")), none);
  EXPECT_EQ(without_right(redisson_permits::codec()), none);
  EXPECT_EQ(without_right(setnx::codec(setnx::acquired_by::exists)), none);
  EXPECT_EQ(without_right(getset::codec(std::chrono::seconds{10})), none);
  // LLEN is of a queue, which these locks do not have.
  EXPECT_EQ(without_right(redisson::codec("id", redisson::waiters::listen)), command_names{"llen"});
  // RSpinLock has no messages: with an empty channel the scripts call none of the others.
  EXPECT_EQ(without_right(redisson::codec("id", redisson::waiters::poll)),
            (command_names{"lindex", "llen", "publish", "spublish"}));
}

TEST(redis_layout_needs, of_layouts_with_sharded_channels_name_the_three_commands_of_those) {
  const command_names all_three{"spublish", "ssubscribe", "sunsubscribe"};
  EXPECT_EQ(of_messages_in_cluster(redisson::codec("id", redisson::waiters::listen)), all_three);
  EXPECT_EQ(of_messages_in_cluster(redisson_fair::codec()), all_three);
  EXPECT_EQ(of_messages_in_cluster(redisson_rw::codec("id")), all_three);
  EXPECT_EQ(of_messages_in_cluster(redisson_permits::codec()), all_three);
  EXPECT_EQ(of_messages_in_cluster(redisson::codec("id", redisson::waiters::poll)),
            command_names{});
}

}  // namespace
}  // namespace holdfast::redis
