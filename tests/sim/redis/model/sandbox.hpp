// The part of Lua that Redis' scripts see.
#pragma once
#include <lua.hpp>

namespace holdfast::sim {

// References into the registry.
struct sandbox_refs {
  int base;   // the table of what scripts may read; `redis` in it lacks call and pcall yet
  int seen;   // the empty one in front of it that they have as their globals
  int error;  // the function that notes where an error was raised
};

// A script has the tables string, table, math and redis, and most of Lua's own functions; none that
// draws random numbers, prints or loads. To set a global variable or to read one that is not there
// is an error.
sandbox_refs open_sandbox(lua_State*);

}  // namespace holdfast::sim
