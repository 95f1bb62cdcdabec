// Plays a schedule on ZooKeeper, in the layout of its plan.
#pragma once
#include <iosfwd>

#include "tests/sim/machine/result.hpp"

namespace holdfast::sim {

result play_zookeeper(const plan&, std::ostream* trace = nullptr, recording = recording::off);

}  // namespace holdfast::sim
