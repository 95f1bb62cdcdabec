#include "tests/sim/redis/model/sandbox.hpp"

#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "tests/sim/redis/model/script_values.hpp"
#include "tests/sim/redis/model/sha1.hpp"

namespace holdfast::sim {
namespace {

constexpr std::array kept_globals{"_VERSION", "assert",   "error",        "getmetatable", "ipairs",
                                  "math",     "next",     "pairs",        "rawequal",     "rawget",
                                  "rawset",   "select",   "setmetatable", "string",       "table",
                                  "tonumber", "tostring", "type",         "unpack",       "xpcall"};

int lua_no_such_global(lua_State* lua) {
  return luaL_error(lua, "Script attempted to access nonexistent global variable '%s'",
                    lua_tostring(lua, 2));
}

int lua_no_new_global(lua_State* lua) {
  return luaL_error(lua, "Attempt to modify a readonly table");
}

// Makes any error a table and notes in it where it was raised.
int lua_note_place(lua_State* lua) {
  lua_Debug place;
  bool known = lua_getstack(lua, 1, &place) && lua_getinfo(lua, "Sl", &place);
  if (known && std::strcmp(place.what, "C") == 0)
    known = lua_getstack(lua, 2, &place) && lua_getinfo(lua, "Sl", &place);
  if (!lua_istable(lua, 1)) {
    const char* const text = lua_tostring(lua, 1);
    lua_createtable(lua, 0, 3);
    lua_pushfstring(lua, "ERR %s", text ? text : luaL_typename(lua, 1));
    lua_setfield(lua, -2, "err");
  }
  if (known) {
    lua_pushstring(lua, place.source);
    lua_setfield(lua, -2, "source");
    lua_pushinteger(lua, place.currentline);
    lua_setfield(lua, -2, "line");
  }
  return 1;
}

// Lua's pcall, but of an error with a table the text is returned.
int lua_plain_pcall(lua_State* lua) {
  luaL_checkany(lua, 1);
  const int failed = lua_pcall(lua, lua_gettop(lua) - 1, LUA_MULTRET, 0);
  if (failed && lua_istable(lua, -1)) {
    lua_getfield(lua, -1, "err");
    if (lua_isstring(lua, -1)) {
      lua_replace(lua, -2);
    } else {
      lua_pop(lua, 1);
    }
  }
  lua_pushboolean(lua, failed == 0);
  lua_insert(lua, 1);
  return lua_gettop(lua);
}

int lua_sha1hex(lua_State* lua) {
  if (lua_gettop(lua) != 1) {
    push_error(lua, "wrong number of arguments");
    return lua_error(lua);
  }
  std::size_t size = 0;
  const char* const text = lua_tolstring(lua, 1, &size);
  const std::string hex = sha1_hex(text ? std::string_view(text, size) : std::string_view());
  lua_pushlstring(lua, hex.data(), hex.size());
  return 1;
}

bool one_text(lua_State* lua) {
  if (lua_gettop(lua) == 1 && lua_type(lua, 1) == LUA_TSTRING) return true;
  push_error(lua, "wrong number or type of arguments");
  return false;
}

int lua_error_reply(lua_State* lua) {
  if (!one_text(lua)) return 1;
  const std::string_view text = lua_tostring(lua, 1);
  push_error(lua, text.starts_with('-') ? std::string(text) : "-" + std::string(text));
  return 1;
}

int lua_status_reply(lua_State* lua) {
  if (!one_text(lua)) return 1;
  lua_createtable(lua, 0, 1);
  lua_pushvalue(lua, 1);
  lua_setfield(lua, -2, "ok");
  return 1;
}

void open_library(lua_State* lua, lua_CFunction open, const char* name) {
  lua_pushcfunction(lua, open);
  lua_pushstring(lua, name);
  lua_call(lua, 1, 0);
}

// Pushes a table whose lookups end in `index`, and whose new fields in `newindex` when it is given.
void push_guarded_table(lua_State* lua, lua_CFunction newindex) {  // `index` is on the stack
  lua_newtable(lua);
  lua_newtable(lua);
  lua_pushvalue(lua, -3);
  lua_setfield(lua, -2, "__index");
  if (newindex) {
    lua_pushcfunction(lua, newindex);
    lua_setfield(lua, -2, "__newindex");
  }
  lua_setmetatable(lua, -2);
  lua_remove(lua, -2);
}

// Into the table on top of the stack.
void add_redis_table(lua_State* lua) {
  lua_newtable(lua);
  const auto add = [&](const char* name, lua_CFunction f) {
    lua_pushcfunction(lua, f);
    lua_setfield(lua, -2, name);
  };
  add("sha1hex", lua_sha1hex);
  add("error_reply", lua_error_reply);
  add("status_reply", lua_status_reply);
  lua_setfield(lua, -2, "redis");
}

}  // namespace

sandbox_refs open_sandbox(lua_State* lua) {
  sandbox_refs refs{};
  open_library(lua, luaopen_base, "");
  open_library(lua, luaopen_string, LUA_STRLIBNAME);
  open_library(lua, luaopen_table, LUA_TABLIBNAME);
  open_library(lua, luaopen_math, LUA_MATHLIBNAME);
  lua_getglobal(lua, "math");
  for (const char* const name : {"random", "randomseed"}) {
    lua_pushnil(lua);
    lua_setfield(lua, -2, name);
  }
  lua_pop(lua, 1);

  lua_pushcfunction(lua, lua_no_such_global);
  push_guarded_table(lua, nullptr);
  for (const char* const name : kept_globals) {
    lua_getglobal(lua, name);
    lua_setfield(lua, -2, name);
  }
  lua_pushcfunction(lua, lua_plain_pcall);
  lua_setfield(lua, -2, "pcall");
  add_redis_table(lua);
  lua_pushvalue(lua, -1);
  refs.base = luaL_ref(lua, LUA_REGISTRYINDEX);
  push_guarded_table(lua, lua_no_new_global);
  refs.seen = luaL_ref(lua, LUA_REGISTRYINDEX);
  lua_pushcfunction(lua, lua_note_place);
  refs.error = luaL_ref(lua, LUA_REGISTRYINDEX);
  return refs;
}

}  // namespace holdfast::sim
