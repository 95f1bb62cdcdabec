// A participant that wants one lock for itself alone.
#pragma once
#include <holdfast/holdfast.hpp>

#include <string>
#include <vector>

#include "participant.hpp"

namespace stress {

class player final : public participant {
 public:
  player(const holdfast::client&, std::string process, holdfast::history::history_writer&,
         guarded_resource&, habits, std::uint64_t seed);

  void play() override;

 private:
  holdfast::lease take(std::size_t lock);

  std::vector<holdfast::mutex> locks_;
};

}  // namespace stress
