// Plays a schedule on a MariaDB server.
#pragma once
#include <iosfwd>

#include "tests/sim/machine/result.hpp"

namespace holdfast::sim {

result play_mysql(const plan&, std::ostream* trace = nullptr, recording = recording::off);

}  // namespace holdfast::sim
