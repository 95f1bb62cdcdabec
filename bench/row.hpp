// One line of the benchmark: what is compared with what.
#pragma once
#include <chrono>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

using seconds = std::chrono::duration<double>;

// The result of one run of one side. `beside` has further figures by name: those with a condition
// in bars.toml are judged on holdfast's side, the others are only shown.
struct outcome {
  double figure = 0;
  std::vector<std::pair<std::string, double>> beside;
};

using side = std::function<outcome(seconds)>;

// Another library doing the same work, shown for comparison: it has no bar.
struct peer {
  std::string name;
  // Returns its figure; throws peer_missing if the library is not installed here.
  std::function<double(seconds)> run;
};

struct peer_missing : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A requirement of the row is missing here: the row is shown as skipped, and meets no bar.
struct row_skipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct contest {
  std::string label;  // what sets it apart when a row has several: "64 threads"
  side limit;         // empty when the figure stands alone
  side holdfast;
  std::vector<peer> peers{};  // run once, after the pairs
  std::string skipped{};      // why it cannot be run; the others of the row are
};

enum class measure : unsigned char {
  ratio,       // holdfast / limit
  difference,  // holdfast - limit
  alone,       // holdfast
};

struct row {
  std::string_view name;
  measure how;
  std::string_view counted;           // what a side's own figure is: "cycles per second"
  std::vector<contest> (*prepare)();  // after pinning, in a process that does nothing else
};

std::span<const row> rows() noexcept;  // rows.cpp: the one table
const row* find_row(std::string_view name) noexcept;
bool built_here(std::string_view name) noexcept;  // false: a row of a backend that is left out

// The rows, by the file that has them.
std::vector<contest> memory_uncontended();
std::vector<contest> memory_w3();
std::vector<contest> memory_many_contenders();
std::vector<contest> memory_most_contenders();
std::vector<contest> fifo_many_contenders();
std::vector<contest> memory_readers();
std::vector<contest> memory_counted();
std::vector<contest> memory_renewal();
std::vector<contest> file_uncontended();
std::vector<contest> file_processes();
std::vector<contest> run_spawn();
std::vector<contest> mysql_optimistic();
std::vector<contest> mysql_optimistic_hot();
std::vector<contest> mysql_named();
std::vector<contest> mysql_for_update();
std::vector<contest> mysql_row_confirmed();
std::vector<contest> mysql_own_rows();
std::vector<contest> mysql_row_contenders();
std::vector<contest> mysql_row_processes();
std::vector<contest> mysql_held();
std::vector<contest> mysql_waiters();
std::vector<contest> redis_confirmed();
std::vector<contest> redis_guarded();
std::vector<contest> redis_own_locks();
std::vector<contest> redis_own_locks_cpu();
std::vector<contest> redis_own_locks_async();
std::vector<contest> redis_contenders();
std::vector<contest> redis_many_contenders();
std::vector<contest> redis_most_contenders();
std::vector<contest> redis_contenders_by_server();
std::vector<contest> redis_processes();
std::vector<contest> redis_processes_in_turns();
std::vector<contest> redis_processes_of_one_thread();
std::vector<contest> redis_renewal();
std::vector<contest> redis_readers();
std::vector<contest> redis_readers_and_writers();
std::vector<contest> redis_lingering();
std::vector<contest> redis_several();
std::vector<contest> redis_holders();
std::vector<contest> redis_study();
std::vector<contest> redisson_confirmed();
std::vector<contest> redisson_own_locks();
std::vector<contest> redisson_contenders();
std::vector<contest> redisson_processes();
std::vector<contest> redis_replicated();
std::vector<contest> sentinel_failover();
std::vector<contest> cluster_failover();
std::vector<contest> cluster_own_locks();
std::vector<contest> shards_own_locks();
std::vector<contest> redlock_confirmed();
std::vector<contest> redlock_processes();
std::vector<contest> redlock_handoffs();
std::vector<contest> zookeeper_confirmed();
std::vector<contest> zookeeper_confirmed_on_disk();
std::vector<contest> zookeeper_guarded();
std::vector<contest> zookeeper_cpu();
std::vector<contest> zookeeper_own_locks();
std::vector<contest> zookeeper_own_locks_on_disk();
std::vector<contest> zookeeper_contenders();
std::vector<contest> zookeeper_processes();
std::vector<contest> zookeeper_drain();
std::vector<contest> zookeeper_bytes();
std::vector<contest> zookeeper_held();

}  // namespace bench
