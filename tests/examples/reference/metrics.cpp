#include <holdfast/holdfast.hpp>

#include <string>

// The answer to a request for /metrics.
std::string scraped(const holdfast::client& client) {
  return holdfast::to_prometheus(client.metrics());
}
