// Keeps inspections of a lock from being taken for a holder.
#pragma once
#include <mutex>

#include "backend/file/descriptors.hpp"
#include "backend/file/directory.hpp"

namespace holdfast::file {

// Whether a file is locked can be found out only by locking it, and a try_acquire() at that moment
// would find a free lock busy. Hence a prober first locks the directory's .probe file exclusively,
// and a claim with one attempt that found a lock busy tries once more with .probe locked shared.
// Safe from any thread.
class probe_gate {
 public:
  explicit probe_gate(directory& place) : place_(place) {}

  // Calls `attempt` while no thread probes. After a tenth of a second (the prober may be stopped)
  // calls it all the same.
  template <class Attempt>
  auto unprobed(Attempt&& attempt) {
    const std::lock_guard guard(mutex_);  // one descriptor has one lock, whichever thread uses it
    const bool shut = enter();
    auto result = attempt();
    if (shut) leave();
    return result;
  }

  // For a prober, with a descriptor of its own; empty when .probe cannot be opened.
  descriptor open_for_probing();
  static void begin_probe(const descriptor&) noexcept;
  static void end_probe(const descriptor&) noexcept;

 private:
  bool enter();
  void leave() noexcept;

  directory& place_;
  std::mutex mutex_;
  descriptor fd_;
};

}  // namespace holdfast::file
