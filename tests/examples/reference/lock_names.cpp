#include <holdfast/holdfast.hpp>

#include <string>
#include <vector>

void lock_accounts(const holdfast::client& client, const std::vector<std::string>& names) {
  const holdfast::lease_set all = client.acquire_all(names);  // all of them or none
  const holdfast::lease_set two = client.acquire_all({"audit", "report"});
}
