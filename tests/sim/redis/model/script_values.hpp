// Answers into Lua's values, and back.
#pragma once
#include <lua.hpp>
#include <string_view>

#include "tests/sim/redis/model/resp_writer.hpp"

namespace holdfast::sim {

// Takes one answer off the front of `resp` and pushes what redis.call returns for it. False: it is
// an error's table.
bool push_answer(lua_State*, std::string_view& resp);

// Pushes the table of an error, with "ERR" before a text without a code in capitals of its own:
// "-CODE text" has one, "text" and "-text" have none.
void push_error(lua_State*, std::string_view text);

// Writes the value on top of the stack as a script's answer, and pops it.
void write_popped(lua_State*, resp_writer&);

}  // namespace holdfast::sim
