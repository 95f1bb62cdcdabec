// Lock files.
#include <unistd.h>
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
  call<lease> waiting(
      [&](std::stop_token stop) { return next.mutex("job").acquire({}, std::move(stop)); });
  waiting.settle();
  if (waiting.done()) return "two hold the lock at a time";
  locks.delete_files();
  held.unlock();
  const auto granted = waiting.result();
  if (!granted.held()) return "not held";
  return third.mutex("job").try_acquire() ? "two hold the lock, each on a file of its own" : "";
}

std::string a_directory_of_everybody_is_refused() {
  const folder locks;
  std::filesystem::permissions(locks.path(), std::filesystem::perms::all);
  std::error_code ec;
  client::open(locks.url(), {}, {}, ec);
  return ec == errc::refused ? "" : "anybody may delete the locks in it";
}

// A job that was started without care for its descriptors has a copy of this one.
std::string a_release_is_heard_by_the_kernel() {
  const folder locks;
  const auto c = client::open(locks.url());
  const auto other = client::open(locks.url());
  auto held = c.mutex("job").acquire();
  const int copy = ::dup(held.native_handle());
  if (copy < 0) return "no descriptor";
  held.release();
  const bool is_free = static_cast<bool>(other.mutex("job").try_acquire());
  ::close(copy);
  return is_free ? "" : "a released lock is held by a copy of its descriptor";
}

std::string a_name_stays_in_the_folder() {
  const folder outer;
  std::filesystem::create_directory(outer.path() + "/locks");
  std::filesystem::permissions(outer.path() + "/locks", std::filesystem::perms::owner_all);
  const auto c = client::open(outer.url() + "/locks");
  const auto held = c.mutex("../escaped").acquire();
  int files = 0;
  for (const auto& one : std::filesystem::directory_iterator(outer.path()))
    files += one.is_directory() ? 0 : 1;
  return files == 0 ? "" : "a name wrote outside of the lock directory";
}

std::string no_reader_passes_a_writer_that_waits() {
  const folder locks;
  const auto reading = client::open(locks.url());
  const auto writing = client::open(locks.url());
  const auto late = client::open(locks.url());
  const auto held = reading.shared_mutex("job").acquire_shared();
  call<lease> writer([&](std::stop_token stop) {
    std::error_code ec;
    return writing.shared_mutex("job").acquire({}, std::move(stop), ec);
  });
  writer.settle();
  if (writer.done()) return "a reader and a writer hold the lock at a time";
  return late.shared_mutex("job").try_acquire_shared() ? "readers keep a writer out for ever" : "";
}

std::string readers_that_hold_together_have_one_token() {
  const folder locks;
  const auto one = client::open(locks.url());
  const auto other = client::open(locks.url());
  const auto first = one.shared_mutex("job").acquire_shared();
  const auto second = other.shared_mutex("job").acquire_shared();
  return first.token() == second.token() ? "" : "a guard would refuse the first of two readers";
}

constexpr scenario all[] = {
    {mutant::file_number_forgotten, "file", a_number_never_goes_back},
    {mutant::file_directory_not_checked, "file", a_directory_of_everybody_is_refused},
    {mutant::file_release_only_closes, "file", a_release_is_heard_by_the_kernel},
    {mutant::file_name_is_a_path, "file", a_name_stays_in_the_folder},
    {mutant::file_writer_starved, "file", no_reader_passes_a_writer_that_waits},
    {mutant::file_group_renumbered, "file", readers_that_hold_together_have_one_token},
    {mutant::file_inode_not_checked, "file", a_deleted_file_is_nobodys_lock},
};

}  // namespace

std::span<const scenario> file_scenarios() { return all; }

}  // namespace holdfast::mutants
