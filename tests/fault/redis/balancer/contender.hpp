// A client that takes one lock again and again, and has a witness write down what it believes.
#pragma once
#include <holdfast/holdfast.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <stop_token>
#include <string>
#include <thread>

#include "witness.hpp"

namespace holdfast::redis_test {

enum class lock_use : unsigned char { exclusive, readers_and_writers, permits };

// A kind of lock in a layout of the store.
struct contended_lock {
  const char* name;
  const char* layout;
  lock_use use;
  int pause_max = 20;  // ms between two turns: more where waiters poll, which may starve
  bool grows_after_a_loss = true;  // its token; Redisson's counter goes back with lost data
};

// From here to the end of the object, on a thread of its own.
class contender {
 public:
  contender(const std::string& url, const contended_lock&, witness&, guarded_counter&,
            std::uint64_t seed);
  contender(const contender&) = delete;
  contender& operator=(const contender&) = delete;

  const char* lock() const noexcept { return lock_.name; }
  std::uint64_t grants() const noexcept { return grants_; }
  std::uint64_t refused() const noexcept { return refused_; }  // holders, by the counter

 private:
  void play(const std::stop_token&);
  lease take(stay&, const std::stop_token&);
  void hold(const lease&, stay&, const std::stop_token&);
  std::chrono::milliseconds up_to(int most) {
    return std::chrono::milliseconds(std::uniform_int_distribution(0, most)(dice_));
  }
  bool one_of(int n) { return std::uniform_int_distribution(1, n)(dice_) == 1; }

  const contended_lock lock_;
  witness& witness_;
  guarded_counter& counter_;
  std::mt19937_64 dice_;
  const client client_;
  std::atomic<std::uint64_t> grants_{0}, refused_{0};
  std::jthread thread_;  // ends first
};

}  // namespace holdfast::redis_test
