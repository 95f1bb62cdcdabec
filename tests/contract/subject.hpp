// What the suite has to know of a backend to put it through the contract.
#pragma once
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace contract {

// Short enough to wait for, long enough for a busy machine with sanitizers.
inline constexpr std::chrono::milliseconds short_ttl{400};

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

struct backend_under_test {
  std::string_view name;
  std::unique_ptr<subject> (*make)();
  holdfast::features can;
  bool has_outages = false;
  bool downgrades = false;  // readers of other processes see a downgrade at once
  bool has_time = true;     // for crowds that wait for each other
  std::size_t most_not_applicable = 0;
};

const std::vector<backend_under_test>& backends_under_test();  // those of this build

std::unique_ptr<subject> make_file_subject();
std::unique_ptr<subject> make_shared_file_subject();
std::unique_ptr<subject> make_memory_subject();
std::unique_ptr<subject> make_redis_subject();

}  // namespace contract
