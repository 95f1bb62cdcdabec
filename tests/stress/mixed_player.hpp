// One participant of a stress run of all kinds of locks: a reader, a writer, sometimes both one
// after the other, a holder of permits, or of two locks at once.
#pragma once
#include <holdfast/holdfast.hpp>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "player.hpp"
#include "testkit/history.hpp"

namespace stress {

inline constexpr std::uint32_t permits_in_all = 3;

class mixed_player {
 public:
  // As player.
  mixed_player(const holdfast::client&, std::string process, holdfast::testkit::history_writer&,
               guarded_resource&, habits, std::uint64_t seed);

  void play();  // one lock or two, once

 private:
  using record = holdfast::testkit::record;
  using operation = holdfast::testkit::operation;

  void read();
  void write();
  void take_permits();
  void take_two();
  void leave(const std::string& lock, holdfast::lease);
  void work();
  void check(const std::string& lock, const holdfast::lease&);
  void write_under(std::size_t lock, const holdfast::lease&);
  bool granted(record begun, const holdfast::lease&, std::error_code);
  record begin(const std::string& lock, operation) const;
  record begin(const std::string& lock, operation, const holdfast::lease&) const;
  void end(record, holdfast::testkit::result);
  bool waits_long() { return up_to(2) == 0; }
  std::chrono::milliseconds patience();
  std::uint64_t up_to(std::uint64_t most) { return numbers_() % (most + 1); }

  const std::string process_;
  holdfast::testkit::history_writer& history_;
  guarded_resource& resource_;
  const habits habits_;
  std::mt19937_64 numbers_;
  std::vector<holdfast::shared_mutex> locks_;
  holdfast::semaphore pool_;
};

}  // namespace stress
