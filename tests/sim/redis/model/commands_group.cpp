// MULTI and what ends it.
#include <array>
#include <string_view>
#include <vector>

#include "tests/sim/redis/model/command_list.hpp"
#include "tests/sim/redis/model/server.hpp"

namespace holdfast::sim {
namespace {

void run_multi(call& c) {
  if (c.by.in_multi) return c.out.error("ERR MULTI calls can not be nested");
  c.by.in_multi = true;
  c.out.status("OK");
}

void run_exec(call& c) {
  if (!c.by.in_multi) return c.out.error("ERR EXEC without MULTI");
  const bool abort = c.by.must_abort;
  const auto group = c.by.leave_multi();
  if (abort) return c.out.error("EXECABORT Transaction discarded because of previous errors.");
  c.out.array(group.size());
  std::vector<std::string_view> argv;
  c.by.runs_group = true;
  for (const auto& one : group) {
    if (c.on.runs_commands_of_multi) {
      c.by.out += one.argv.front();  // what it has answered already
      continue;
    }
    argv.assign(one.argv.begin(), one.argv.end());
    c.on.run(c.by, *one.what, argv);
  }
  c.by.runs_group = false;
}

void run_discard(call& c) {
  if (!c.by.in_multi) return c.out.error("ERR DISCARD without MULTI");
  c.by.leave_multi();
  c.out.status("OK");
}

constexpr unsigned of_groups = not_in_scripts | while_loading | never_queued;

constexpr std::array list_of_groups{
    command{"multi", 1, of_groups, run_multi},
    command{"exec", 1, of_groups, run_exec},
    command{"discard", 1, of_groups, run_discard},
};

}  // namespace

std::span<const command> group_commands() { return list_of_groups; }

}  // namespace holdfast::sim
