#include <holdfast/holdfast.hpp>

#include <mutex>

void transfer(int cents, std::int64_t token_of_alice, std::int64_t token_of_bob);

// Transfers in both directions cannot deadlock.
void transfer_between(const holdfast::client& client, int cents) {
  holdfast::mutex alice = client.mutex("account/alice"), bob = client.mutex("account/bob");
  holdfast::multi_mutex both(alice, bob);
  const std::lock_guard guard(both);
  transfer(cents, alice.current().token(), bob.current().token());
}
