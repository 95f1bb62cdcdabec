// The snippets of docs/guides/ as they stand there, with what a program around them would have.
// They are compiled and not run.
#include <holdfast/holdfast.hpp>
#ifdef WITH_ASIO
#include <holdfast/asio.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_awaitable.hpp>
#endif

#include <chrono>
#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <stop_token>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace hf = holdfast;

namespace guides {

using namespace std::chrono_literals;

struct web_request {
  void cancel();
  void run();
};
struct guarded_table {
  std::mutex mutex;
  hf::fencing_guard guard;
  int value = 0;
};
void process(int item, std::int64_t token);
void transfer(std::int64_t token_of_alice, std::int64_t token_of_bob);
void run_next_job(std::int64_t token);
bool run_update(int cents, std::int64_t token);
void roll_back();
void stop_working();
void log_warning(std::string_view line);
void log_error(std::string_view line);

std::int64_t hold_several(const hf::client& client) {
#include "several_locks.inc"
  return both.members().front().token();
}

std::int64_t hold_kinds(const hf::client& client) {
#include "kinds_of_locks.inc"
  return two.held() ? token : 0;
}

bool lock_twice(const hf::client& client) {
#include "recursive_lock.inc"
  return lock.current().held();
}

void cancel_when_lost(const hf::mutex& lock, web_request& request) {
#include "loss_callback.inc"
}

void check_between_steps(const hf::lease& lease, const std::vector<int>& items) {
#include "loss_steps.inc"
}

void commit_if_held(hf::lease& lease) {
#include "loss_commit.inc"
}

void write_to_redis(const hf::client& client, const hf::lease& lease) {
#include "fencing_redis.inc"
}

void write_to_zookeeper(const hf::lease& lease) {
#include "fencing_zookeeper.inc"
}

bool write_to_table(guarded_table& table, const hf::lease& lease, int value) {
#include "fencing_process.inc"
}

void lead_in_turn(const hf::client& client, const std::stop_token& stop) {
#include "leader_election.inc"
}

bool write_to_a_guarded_ledger(const hf::client& client) {
#include "fencing_guarded.inc"
  return booked;
}

// GCC does not know the attributes.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes"
#include "thread_safety_scope.inc"

#include "thread_safety.inc"
#pragma GCC diagnostic pop

void set_hook() {
#include "logging_hook.inc"
}

bool test_a_loss() {
#include "testing_memory.inc"
  return noticed;
}

void hold_in_both(const hf::client& old_store, const hf::client& new_store) {
#include "migrate_both.inc"
}

#ifdef WITH_ASIO
using boost::asio::as_tuple;
using boost::asio::use_awaitable;
using namespace boost::asio::experimental::awaitable_operators;

boost::asio::awaitable<void> work();

#include "coroutine.inc"
#endif

}  // namespace guides
