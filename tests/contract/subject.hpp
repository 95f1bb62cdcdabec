// The facts about a store, and about one of its layouts, that the contract suite needs.
#pragma once
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "expected_failure.hpp"
#include "modes.hpp"

namespace contract {

// Short enough to wait for, long enough for a busy machine with sanitizers.
inline constexpr std::chrono::milliseconds short_ttl{400};
// Of leases that have to be renewed in time; and so many of them last for longer than a busy
// machine stops a thread.
inline constexpr std::chrono::milliseconds renewed_ttl{1600};
inline constexpr int renewed_tries = 5;

// One store, fresh for each case and gone with the subject.
class subject {
 public:
  virtual ~subject() = default;
  virtual std::string url() const = 0;              // leases of 30 s where leases run out
  virtual std::string short_lived_url() const = 0;  // leases of short_ttl where leases run out
  // All leases of the client, which is a short-lived one, are lost, soon or at once, and its locks
  // come free.
  virtual void lose_leases_of(const holdfast::client&) = 0;
  // A client as if its process was stopped, or killed. Only where there are no real processes.
  virtual void stop(const holdfast::client&) {}
  virtual void go_on(const holdfast::client&) {}
  virtual void begin_outage() {}
  virtual void end_outage() {}
  virtual void lose_next_reply() {}
};

// The events besides its release that end a lease.
enum class lifetime : unsigned char {
  ttl,         // its own time, unless it is renewed
  session,     // the client's session at the store, of which it has no time of its own
  connection,  // the connection over which it was granted
  process,     // the process: it has no deadline
};

// One entry puts a store with one of its layouts, or with certain options, through the contract.
struct subject_under_test {
  std::string_view name;  // of its cases; ends with its backend: "redis", "lua_redis"
  std::unique_ptr<subject> (*make)(std::string_view options) = nullptr;
  std::string_view options{};  // of each of its URLs: "layout=lua"
  lifetime life = lifetime::ttl;
  in_modes modes = in_every_mode;  // those that its layout has; in others nothing is played
  holdfast::features can;
  bool has_tokens = true;
  bool has_outages = false;
  bool downgrades = false;      // readers of other processes see a downgrade at once
  bool prefers_writers = true;  // among clients; those of one client are served in order
  bool has_time = true;         // for contenders that wait for each other
  std::string_view (*is_missing)() = nullptr;  // why this machine lacks it; empty: it has it
  std::size_t most_not_applicable = 0;
  std::vector<expected_failure> expected_failures{};

  bool has_ttl() const { return life == lifetime::ttl; }
  bool has_deadlines() const { return life != lifetime::process; }
};

const std::vector<subject_under_test>& subjects_under_test();  // those of this build

// `url` with these options, if any, besides those that it has.
std::string with_options(std::string url, std::string_view options);

std::unique_ptr<subject> make_file_subject(std::string_view options);
std::unique_ptr<subject> make_shared_file_subject(std::string_view options);
std::unique_ptr<subject> make_memory_subject(std::string_view options);
std::unique_ptr<subject> make_redis_subject(std::string_view options);
std::unique_ptr<subject> make_sentinel_subject(std::string_view options);
std::unique_ptr<subject> make_cluster_subject(std::string_view options);
std::unique_ptr<subject> make_shards_subject(std::string_view options);
std::unique_ptr<subject> make_changing_shards_subject(std::string_view options);
std::unique_ptr<subject> make_redlock_subject(std::string_view options);
std::unique_ptr<subject> make_mysql_subject(std::string_view options);
std::string_view mysql_is_missing();  // why its server cannot be had here; empty: it can
std::unique_ptr<subject> make_zookeeper_subject(std::string_view options);
std::unique_ptr<subject> make_zookeeper_ensemble_subject(std::string_view options);
std::string_view zookeeper_is_missing();  // why its server cannot be had here; empty: it can

}  // namespace contract
