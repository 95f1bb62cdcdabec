// One participant of a stress run of all kinds of locks: a reader, a writer, sometimes both one
// after the other, a holder of permits, or of two locks at once.
#pragma once
#include <holdfast/holdfast.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "participant.hpp"

namespace stress {

inline constexpr std::uint32_t permits_in_all = 3;

class mixed_player final : public participant {
 public:
  mixed_player(const holdfast::client&, std::string process, holdfast::history::history_writer&,
               guarded_resource&, habits, std::uint64_t seed);

  void play() override;

 private:
  void read();
  void write();
  void take_permits();
  void take_two();
  bool waits_long() { return up_to(2) == 0; }

  std::vector<holdfast::shared_mutex> locks_;
  holdfast::semaphore pool_;
};

}  // namespace stress
