// A master behind sentinels that is cut off from them and from its replicas.
#pragma once
#include "contention/fault.hpp"
#include "testkit/servers/sentinel_servers.hpp"

namespace holdfast::torture {

using namespace contention;

// Clients reach all servers and sentinels. The sentinels replace the master. It is reached again
// when the other replica has left it.
void cut_off_the_master(testkit::sentinel_servers&, dice&);

}  // namespace holdfast::torture
