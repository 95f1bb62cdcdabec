// A parent's locks in a fork's child.
#include <sys/wait.h>
#include <unistd.h>
#include <holdfast/holdfast.hpp>

#include <array>
#include <functional>

#include "folder.hpp"
#include "io/random.hpp"
#include "scenario.hpp"

namespace holdfast::mutants {
namespace {

using base::mutant;

// Whether the test was true in a child.
bool is_true_in_a_child(const std::function<bool()>& test) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(test() ? 1 : 0);
  int status = 0;
  return ::waitpid(child, &status, 0) != child || status != 0;
}

std::string a_child_holds_nothing() {
  const folder locks;
  const auto c = client::open(locks.url());
  const auto held = c.mutex("job").acquire();
  const bool holds = is_true_in_a_child([&] { return held.held(); });
  return holds ? "parent and child both hold the lock" : "";
}

bool has_a_file_open_in(const std::string& place) {
  for (const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const auto file = std::filesystem::read_symlink(one.path(), gone);
    if (!gone && file.string().starts_with(place + "/")) return true;
  }
  return false;
}

std::string a_child_keeps_no_lock_file_open() {
  const folder locks;
  const auto c = client::open(locks.url());
  const auto held = c.mutex("job").acquire();
  if (!has_a_file_open_in(locks.path())) return "not held";
  const bool keeps = is_true_in_a_child([&] { return has_a_file_open_in(locks.path()); });
  return keeps ? "the lock would outlive its holder in a child that knows nothing of it" : "";
}

std::string a_child_draws_other_owner_ids() {
  using id = std::array<std::byte, 16>;
  id ours{}, its{};
  io::fill_random(ours);  // and reads more than that from the kernel
  int ends[2];
  if (::pipe(ends) != 0) return "there is no pipe";
  is_true_in_a_child([&] {
    io::fill_random(its);
    return ::write(ends[1], its.data(), its.size()) > 0;
  });
  io::fill_random(ours);
  const bool has_read = ::read(ends[0], its.data(), its.size()) > 0;
  for (const int end : ends) ::close(end);
  return has_read && its == ours ? "two processes use one owner id" : "";
}

constexpr scenario of_fork[] = {
    {mutant::child_keeps_lease, "file", a_child_holds_nothing},
    {mutant::child_draws_as_its_parent, "file", a_child_draws_other_owner_ids},
    {mutant::child_keeps_descriptor, "file", a_child_keeps_no_lock_file_open},
};

}  // namespace

std::span<const scenario> fork_scenarios() { return of_fork; }

}  // namespace holdfast::mutants
