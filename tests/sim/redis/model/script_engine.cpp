#include "tests/sim/redis/model/script_engine.hpp"

#include <utility>

#include "tests/sim/redis/model/number_text.hpp"
#include "tests/sim/redis/model/script_values.hpp"
#include "tests/sim/redis/model/server.hpp"
#include "tests/sim/redis/model/sha1.hpp"

namespace holdfast::sim {
namespace {

void write_failure(lua_State* lua, const script& s, resp_writer& out) {
  lua_getfield(lua, -1, "err");
  lua_getfield(lua, -2, "source");
  lua_getfield(lua, -3, "line");
  std::string text = lua_isstring(lua, -3) ? lua_tostring(lua, -3) : "(null)";
  if (lua_isstring(lua, -2) && lua_isstring(lua, -1))
    text +=
        " script: " + s.sha + ", on " + lua_tostring(lua, -2) + ":" + lua_tostring(lua, -1) + ".";
  out.error(text);
}

// In the words that all scripts have for it.
std::string with_short_loops(std::string lua) {
  constexpr std::pair<std::string_view, std::string_view> words[] = {{"for _ = 1, 64 do",
                                                                      "for _ = 1, 2 do"},
                                                                     {", 0, 63)", ", 0, 1)"},
                                                                     {"== 64", "== 2"}};
  for (const auto& [usual, shorter] : words)
    for (auto at = lua.find(usual); at != lua.npos; at = lua.find(usual, at))
      lua.replace(at, usual.size(), shorter);
  return lua;
}

}  // namespace

script_engine& script_engine::of_this_thread() {
  thread_local script_engine one;
  return one;
}

script_engine::script_engine()
    : state_(lua_newstate(script_memory::allocate, &memory_)), refs_(open_sandbox(state_.get())) {
  lua_State* const lua = state_.get();
  lua_rawgeti(lua, LUA_REGISTRYINDEX, refs_.base);
  lua_getfield(lua, -1, "redis");
  const auto add = [&](const char* name, lua_CFunction f) {
    lua_pushlightuserdata(lua, this);
    lua_pushcclosure(lua, f, 1);
    lua_setfield(lua, -2, name);
  };
  add("call", lua_call_redis);
  add("pcall", lua_pcall_redis);
  lua_settop(lua, 0);
}

void script_engine::edit(model_redis::editing e) {
  edit_ = std::move(e);
  for (auto& all : by_text_) all.clear();
}

void script_engine::shorten_loops(bool s) { shortens_ = s; }

const script* script_engine::compile(std::string_view text, std::string& complaint) {
  auto& compiled = by_text_[shortens_];
  if (const auto found = compiled.find(text); found != compiled.end()) return found->second.get();
  lua_State* const lua = state_.get();
  std::string edited = edit_ ? edit_(text) : std::string(text);
  if (shortens_) edited = with_short_loops(std::move(edited));
  if (luaL_loadbuffer(lua, edited.data(), edited.size(), "@user_script") != 0) {
    complaint = "ERR Error compiling script (new function): ";
    complaint += lua_tostring(lua, -1);
    lua_pop(lua, 1);
    return nullptr;
  }
  lua_rawgeti(lua, LUA_REGISTRYINDEX, refs_.seen);
  lua_setfenv(lua, -2);
  auto one = std::make_unique<script>(
      script{std::string(text), sha1_hex(text), luaL_ref(lua, LUA_REGISTRYINDEX)});
  return compiled.emplace(one->text, std::move(one)).first->second.get();
}

void script_engine::set_global_list(const char* name, arguments texts) {
  lua_State* const lua = state_.get();
  lua_createtable(lua, static_cast<int>(texts.size()), 0);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    lua_pushlstring(lua, texts[i].data(), texts[i].size());
    lua_rawseti(lua, -2, static_cast<int>(i) + 1);
  }
  lua_setfield(lua, -2, name);
}

void script_engine::run(const script& s, call& c, arguments keys, arguments args) {
  lua_State* const lua = state_.get();
  const int top = lua_gettop(lua);
  caller_ = &c;
  wrote_ = false;
  c.on.for_scripts.database = c.by.database;
  c.on.for_scripts.asking = c.by.asking;
  lua_rawgeti(lua, LUA_REGISTRYINDEX, refs_.base);
  set_global_list("KEYS", keys);
  set_global_list("ARGV", args);
  lua_rawgeti(lua, LUA_REGISTRYINDEX, refs_.error);
  lua_rawgeti(lua, LUA_REGISTRYINDEX, s.function);
  if (lua_pcall(lua, 0, 1, -2) == 0) {
    write_popped(lua, c.out);
  } else {
    write_failure(lua, s, c.out);
  }
  caller_ = nullptr;
  lua_settop(lua, top);
}

bool script_engine::do_command() {
  lua_State* const lua = state_.get();
  const int count = lua_gettop(lua);
  const auto refuse = [&](std::string_view error) {
    push_error(lua, error);
    return false;
  };
  if (count == 0) return refuse("Please specify at least one argument for this redis lib call");
  argv_.clear();
  for (int i = 1; i <= count; ++i) {
    if (lua_type(lua, i) == LUA_TNUMBER) {
      digits_buffer digits;
      const auto text = digits_of(lua_tonumber(lua, i), digits);
      lua_pushlstring(lua, text.data(), text.size());
      lua_replace(lua, i);
    }
    std::size_t size = 0;
    const char* const text = lua_tolstring(lua, i, &size);
    if (!text) return refuse("Lua redis lib command arguments must be strings or integers");
    argv_.emplace_back(text, size);
  }
  std::string complaint;
  const command* const what = find_command(argv_, complaint);
  if (!what) return refuse("Unknown Redis command called from script");
  if (!what->takes(argv_.size()))
    return refuse("Wrong number of args calling Redis command from script");
  if (what->is(not_in_scripts)) return refuse("This Redis command is not allowed from script");
  server& on = caller_->on;
  if (on.forbidden.contains(what->name))
    return refuse("The user executing the script can't run this command or subcommand");
  if (const auto error = on.refused_to_script(*what, wrote_); !error.empty())
    return refuse("-" + std::string(error));
  if (!on.redirection(on.for_scripts, *what, argv_).empty())
    return refuse("-ERR Script attempted to access a non local key in a cluster node");
  wrote_ = wrote_ || what->is(writes);
  connection& client = on.for_scripts;
  client.out.clear();
  on.run(client, *what, argv_);
  std::string_view answer = client.out;
  lua_settop(lua, 0);
  return push_answer(lua, answer);
}

int script_engine::lua_call_redis(lua_State* lua) {
  auto* const engine = static_cast<script_engine*>(lua_touserdata(lua, lua_upvalueindex(1)));
  return engine->do_command() ? 1 : lua_error(lua);
}

int script_engine::lua_pcall_redis(lua_State* lua) {
  static_cast<script_engine*>(lua_touserdata(lua, lua_upvalueindex(1)))->do_command();
  return 1;
}

}  // namespace holdfast::sim
