#include "tests/sim/redis/model/script_values.hpp"

#include <charconv>
#include <string>

namespace holdfast::sim {
namespace {

long long number_of(std::string_view text) {
  long long n = 0;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

void push_field(lua_State* lua, const char* name, std::string_view text) {
  lua_createtable(lua, 0, 1);
  lua_pushlstring(lua, text.data(), text.size());
  lua_setfield(lua, -2, name);
}

void push_bulk(lua_State* lua, long long size, std::string_view& resp) {
  if (size < 0) {
    lua_pushboolean(lua, 0);
    return;
  }
  lua_pushlstring(lua, resp.data(), static_cast<std::size_t>(size));
  resp.remove_prefix(static_cast<std::size_t>(size) + 2);
}

void push_array(lua_State* lua, long long size, std::string_view& resp) {
  if (size < 0) {
    lua_pushboolean(lua, 0);
    return;
  }
  luaL_checkstack(lua, 8, "answer");
  lua_createtable(lua, static_cast<int>(size), 0);
  for (long long i = 1; i <= size; ++i) {
    push_answer(lua, resp);
    lua_rawseti(lua, -2, static_cast<int>(i));
  }
}

// The text in a field of the table on top of the stack, pushed; false: no text, nothing pushed.
bool push_text_field(lua_State* lua, const char* name) {
  lua_pushstring(lua, name);
  lua_rawget(lua, -2);
  if (lua_type(lua, -1) == LUA_TSTRING) return true;
  lua_pop(lua, 1);
  return false;
}

void write_list(lua_State* lua, resp_writer& out) {
  int size = 0;
  for (bool more = true; more; lua_pop(lua, 1)) {
    lua_rawgeti(lua, -1, size + 1);
    more = !lua_isnil(lua, -1);
    size += more;
  }
  out.array(static_cast<std::size_t>(size));
  for (int i = 1; i <= size; ++i) {
    lua_rawgeti(lua, -1, i);
    write_popped(lua, out);
  }
}

void write_table(lua_State* lua, resp_writer& out) {
  if (push_text_field(lua, "err")) {
    out.error(lua_tostring(lua, -1));
    lua_pop(lua, 1);
  } else if (push_text_field(lua, "ok")) {
    out.status(lua_tostring(lua, -1));
    lua_pop(lua, 1);
  } else {
    write_list(lua, out);
  }
}

}  // namespace

bool push_answer(lua_State* lua, std::string_view& resp) {
  const char kind = resp.front();
  const std::size_t end = resp.find("\r\n");
  const std::string_view line = resp.substr(1, end - 1);
  resp.remove_prefix(end + 2);
  switch (kind) {
    case '+': push_field(lua, "ok", line); return true;
    case '-': push_field(lua, "err", line); return false;
    case ':': lua_pushnumber(lua, static_cast<lua_Number>(number_of(line))); return true;
    case '$': push_bulk(lua, number_of(line), resp); return true;
    default: push_array(lua, number_of(line), resp); return true;
  }
}

void push_error(lua_State* lua, std::string_view text) {
  const bool coded = text.starts_with('-') && text.find(' ') != text.npos;
  if (text.starts_with('-')) text.remove_prefix(1);
  std::string whole(coded ? "" : "ERR ");
  whole += text;
  while (whole.ends_with('\n') || whole.ends_with('\r')) whole.pop_back();
  push_field(lua, "err", whole);
}

void write_popped(lua_State* lua, resp_writer& out) {
  if (!lua_checkstack(lua, 4)) {
    out.error("ERR reached lua stack limit");
    lua_pop(lua, 1);
    return;
  }
  switch (lua_type(lua, -1)) {
    case LUA_TSTRING: {
      std::size_t size = 0;
      const char* const text = lua_tolstring(lua, -1, &size);
      out.bulk({text, size});
      break;
    }
    case LUA_TBOOLEAN: lua_toboolean(lua, -1) ? out.integer(1) : out.null(); break;
    case LUA_TNUMBER: out.integer(static_cast<long long>(lua_tonumber(lua, -1))); break;
    case LUA_TTABLE: write_table(lua, out); break;
    default: out.null();
  }
  lua_pop(lua, 1);
}

}  // namespace holdfast::sim
