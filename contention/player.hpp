// A participant that takes any of the locks in any mode that the backend has, holds it
// for a random time, and writes to the resource that the lock guards.
#pragma once
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "contention/locks.hpp"
#include "contention/plant.hpp"
#include "contention/resource.hpp"
#include "testkit/participant.hpp"

namespace holdfast::contention {

class player final : public testkit::participant {
 public:
  struct terms {
    std::string process;
    std::string resource;  // path of its socket
    name_scheme names;
    std::chrono::milliseconds ttl{};
    std::uint64_t seed = 0;
    plant planted = plant::nothing;
  };
  player(const client&, history::history_writer&, const terms&);

  void play() override;
  std::uint64_t grants() const noexcept { return grants_; }  // may be read by another thread

 private:
  using record = history::record;
  using operation = history::operation;
  using loss_callback = std::stop_callback<std::function<void()>>;

  void take_mutex();
  void take_and_fork();
  void enter_twice();
  void read();
  void write();
  void take_permits();
  void take_two();

  // Acquires by one of the verbs, chosen at random, and records it.
  template <class Acquire, class TryFor, class Try>
  lease take(record begun, const Acquire&, const TryFor&, const Try&);
  template <class Lock>
  lease take_any(const std::string& name, const Lock&, const acquire_options& = {});
  bool note_grant(record begun, const lease&, std::error_code);
  // Records when the library reports the loss of the lease, as long as the callback exists.
  [[nodiscard]] loss_callback record_loss(const std::string& name, const lease&);
  void hold(const std::string& name, lease&, bool may_write);
  void work_once(const std::string& name, lease&, bool may_write);
  void extend(const std::string& name, lease&);
  void check_late(const std::string& name, const lease&);
  void downgrade(const std::string& name, const shared_mutex&, lease&);
  void give_back(const std::string& name, lease);
  void write_late(const std::string& name, std::int64_t token, const std::string& owner);
  std::chrono::milliseconds wait_limit();

  const terms terms_;
  const features features_;
  resource_connection resource_;
  std::vector<mutex> mutexes_;
  recursive_mutex recursive_;
  std::vector<shared_mutex> shared_;
  std::optional<semaphore> permits_;
  std::vector<void (player::*)()> plays_;
  std::atomic<std::uint64_t> grants_{0};
};

}  // namespace holdfast::contention
