#include <holdfast/holdfast.hpp>

#include <chrono>

using namespace std::chrono_literals;

// A unit test of code that has to notice the loss of its lock.
bool notices_the_loss() {
  holdfast::memory_store store("a test");
  const auto client = holdfast::client::open(store.url());
  const holdfast::lease lease = client.mutex("job").acquire();
  store.advance(1h);  // as if no renewal had been confirmed
  return !lease.held();
}
