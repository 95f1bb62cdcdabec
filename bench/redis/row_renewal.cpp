// redis/renewal: what it costs the client to keep many leases alive.
#include <holdfast/holdfast.hpp>

#include <memory>

#include "redis/fixture.hpp"
#include "renewal_watch.hpp"

namespace bench {
namespace {

class locks_in_redis {  // whose server is another process
 public:
  outcome run(seconds length) { return watch_.run(length); }

 private:
  redis_fixture fixture_;
  renewal_watch watch_{holdfast::client::open(fixture_.url("?ttl=30s")), "client bytes per lock",
                       [](std::size_t grown) { return grown; }};
};

}  // namespace

std::vector<contest> redis_renewal() {
  const auto locks = std::make_shared<locks_in_redis>();
  return {{"", {}, [locks](seconds length) { return locks->run(length); }}};
}

}  // namespace bench
