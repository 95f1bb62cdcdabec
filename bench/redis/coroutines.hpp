// Coroutines of one thread, each with a lock of its own.
#pragma once
#include <holdfast/holdfast.hpp>

#include <span>

#include "row.hpp"

namespace bench {

// As run_contenders_on(), with a coroutine in place of each thread.
outcome run_coroutines(std::span<const holdfast::mutex> locks, seconds length);

}  // namespace bench
