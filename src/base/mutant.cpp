#include "base/mutant.hpp"

#ifdef HOLDFAST_MUTANTS
#include <atomic>

namespace holdfast::base {
namespace {

std::atomic<mutant> the_one{mutant::none};

}  // namespace

void plant(mutant m) noexcept { the_one.store(m, std::memory_order_relaxed); }
bool planted(mutant m) noexcept { return the_one.load(std::memory_order_relaxed) == m; }

}  // namespace holdfast::base
#endif
