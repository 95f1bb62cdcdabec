// Lock files.
#include <holdfast/holdfast.hpp>

#include <chrono>

#include "call.hpp"
#include "core/client_access.hpp"
#include "folder.hpp"
#include "scenario.hpp"
#include "testkit/manual_environment.hpp"

namespace holdfast::mutants {
namespace {

using core::mutant;
using detail::client_access;

std::string a_number_never_goes_back() {
  const folder locks;
  testkit::manual_environment env;
  const auto where = url::parse(locks.url());
  const auto token = [&] {
    const auto c = client_access::open(where, {}, env);
    return c.mutex("job").acquire().token();
  };
  const auto before = token();
  env.set_wall(env.wall() - std::chrono::hours(1));
  return token() > before ? "" : "the clock was set back, and the tokens with it";
}

// The file is deleted while somebody waits for the lock on it.
std::string a_deleted_file_is_nobodys_lock() {
  const folder locks;
  const auto holder = client::open(locks.url());
  const auto next = client::open(locks.url());
  const auto third = client::open(locks.url());
  auto held = holder.mutex("job").acquire();
  call<lease> waiting([&](std::stop_token stop) {
    return next.mutex("job").acquire({}, std::move(stop));
  });
  waiting.settle();
  if (waiting.done()) return "two hold the lock at a time";
  locks.delete_files();
  held.unlock();
  const auto granted = waiting.result();
  if (!granted.held()) return "not held";
  return third.mutex("job").try_acquire() ? "two hold the lock, each on a file of its own" : "";
}

constexpr scenario all[] = {
    {mutant::file_number_forgotten, "file", a_number_never_goes_back},
    {mutant::file_inode_not_checked, "file", a_deleted_file_is_nobodys_lock},
};

}  // namespace

std::span<const scenario> file_scenarios() { return all; }

}  // namespace holdfast::mutants
