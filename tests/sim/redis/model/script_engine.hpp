// Lua scripts as Redis runs them, in Debian's Lua 5.1.
#pragma once
#include <lua.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tests/sim/redis/model/command.hpp"
#include "tests/sim/redis/model/model_redis.hpp"
#include "tests/sim/redis/model/sandbox.hpp"
#include "tests/sim/redis/model/script_memory.hpp"

namespace holdfast::sim {

struct script {
  std::string text;
  std::string sha;
  int function;  // in the registry of the engine's state
};

// One a thread, for all servers of it.
class script_engine {
 public:
  static script_engine& of_this_thread();

  void edit(model_redis::editing);
  void shorten_loops(bool);
  // Null: `complaint` says why. Costs little when the script is known.
  const script* compile(std::string_view text, std::string& complaint);
  void run(const script&, call&, arguments keys, arguments args);

 private:
  struct lua_closer {
    void operator()(lua_State* s) const { lua_close(s); }
  };
  script_engine();
  script_engine(const script_engine&) = delete;
  void set_global_list(const char* name, arguments);
  bool do_command();  // of the arguments on the stack; false: an error table was pushed
  static int lua_call_redis(lua_State*);
  static int lua_pcall_redis(lua_State*);

  script_memory memory_;
  std::unique_ptr<lua_State, lua_closer> state_;
  sandbox_refs refs_;
  using scripts_by_text = std::unordered_map<std::string_view, std::unique_ptr<script>>;
  scripts_by_text by_text_[2];  // with the usual loops, with short ones
  std::vector<std::string_view> argv_;
  model_redis::editing edit_;
  bool shortens_ = false;
  call* caller_ = nullptr;  // while a script runs
  bool wrote_ = false;
};

}  // namespace holdfast::sim
