// Lock files.
#include <sys/file.h>
#include <unistd.h>
#include <holdfast/holdfast.hpp>

#include <chrono>

#include "api/client_access.hpp"
#include "call.hpp"
#include "folder.hpp"
#include "scenario.hpp"
#include "testkit/manual_environment.hpp"

namespace holdfast::mutants {
namespace {

using base::mutant;
using detail::client_access;

std::string number_over_a_clock_set_back(const std::string& at) {
  testkit::manual_environment env;
  const auto where = url::parse(at);
  const auto token = [&] {
    const auto c = client_access::open(where, {}, env);
    return c.mutex("job").acquire().token();
  };
  const auto before = token();
  env.set_wall(env.wall() - std::chrono::hours(1));
  return token() > before ? "" : "the clock was set back, and the tokens with it";
}

std::string a_number_never_goes_back() {
  const folder locks;
  return number_over_a_clock_set_back(locks.url());
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
  (void)client::open(locks.url(), {}, {}, ec);
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

std::string with_unlink(const folder& locks) { return locks.url() + "?unlink=1"; }

// A lock is used for a moment by a client that goes at once: its file is removed if nobody uses it.
void pass_by(const std::string& url) { (void)client::open(url).mutex("job").try_acquire(); }

std::string a_locked_file_is_not_removed() {
  const folder locks;
  const auto holder = client::open(with_unlink(locks));
  const auto other = client::open(with_unlink(locks));
  const auto held = holder.mutex("job").acquire();
  pass_by(with_unlink(locks));
  return other.mutex("job").try_acquire() ? "two hold the lock, each on a file of its own" : "";
}

// A job has a copy of the claim's descriptor, and has it locked.
std::string a_job_that_has_it_locked_keeps_the_file() {
  const folder locks;
  int copy = -1;
  {
    const auto c = client::open(with_unlink(locks));
    const auto lock = c.mutex("job");
    auto held = lock.acquire();
    copy = ::dup(held.native_handle());
    held.release();
    if (::flock(copy, LOCK_EX | LOCK_NB) != 0) return "no lock for the job";
  }
  const auto other = client::open(with_unlink(locks));
  const bool taken = static_cast<bool>(other.mutex("job").try_acquire());
  ::close(copy);
  return taken ? "a job and a client hold the lock at a time" : "";
}

std::string a_number_grows_though_the_file_was_removed() {
  const folder locks;
  return number_over_a_clock_set_back(with_unlink(locks));
}

// The clock stands still, so only the file that is locked is looked at, not the name.
std::string a_file_that_was_removed_is_nobodys_lock() {
  const folder locks;
  testkit::manual_environment env;
  const auto where = url::parse(with_unlink(locks));
  const auto idle = client_access::open(where, {}, env);
  const auto lock = idle.mutex("job");
  lock.acquire().release();
  pass_by(with_unlink(locks));
  const auto other = client::open(with_unlink(locks));
  const auto held = other.mutex("job").acquire();
  return lock.try_acquire() ? "two hold the lock, one of them on a removed file" : "";
}

constexpr scenario of_file[] = {
    {mutant::unlink_unlocked, "file", a_locked_file_is_not_removed},
    {mutant::unlink_unlocked, "file", a_job_that_has_it_locked_keeps_the_file},
    {mutant::floor_forgotten, "file", a_number_grows_though_the_file_was_removed},
    {mutant::nlink_not_checked, "file", a_file_that_was_removed_is_nobodys_lock},
    {mutant::file_number_forgotten, "file", a_number_never_goes_back},
    {mutant::file_directory_not_checked, "file", a_directory_of_everybody_is_refused},
    {mutant::file_release_only_closes, "file", a_release_is_heard_by_the_kernel},
    {mutant::file_name_is_a_path, "file", a_name_stays_in_the_folder},
    {mutant::file_writer_starved, "file", no_reader_passes_a_writer_that_waits},
    {mutant::file_group_renumbered, "file", readers_that_hold_together_have_one_token},
    {mutant::file_inode_not_checked, "file", a_deleted_file_is_nobodys_lock},
};

}  // namespace

std::span<const scenario> file_scenarios() { return of_file; }

}  // namespace holdfast::mutants
