// memory/renewal: what it costs to keep many leases alive.
#include <holdfast/holdfast.hpp>

#include <memory>

#include "renewal_watch.hpp"

namespace bench {
namespace {

class leases_in_memory {
 public:
  outcome run(seconds length) { return watch_.run(length); }

 private:
  // Without what the store itself keeps of these locks. That is taken to be what the heap grows by
  // when it copies them for a snapshot: less than the original, which has room for the clients'
  // addresses too, so the client's part is, if anything, overstated.
  std::size_t without_store(std::size_t with_store) {
    const std::size_t before = heap_in_use();
    store_.snapshot();
    return with_store - (heap_in_use() - before);
  }

  holdfast::memory_store store_{"bench"};
  renewal_watch watch_{holdfast::client::open(store_.url() + "?ttl=30s"), "client bytes per lease",
                       [this](std::size_t grown) { return without_store(grown); }};
};

}  // namespace

std::vector<contest> memory_renewal() {
  const auto leases = std::make_shared<leases_in_memory>();
  return {{"", {}, [leases](seconds length) { return leases->run(length); }}};
}

}  // namespace bench
