// Temporary refusals of a Redis server.
#include "tests/sim/redis/redis_store.hpp"

namespace holdfast::sim {

namespace {

constexpr trouble refusals[] = {trouble::disk_full,         trouble::too_few_replicas,
                                trouble::long_script,       trouble::cluster_down,
                                trouble::master_down,       trouble::publish_revoked,
                                trouble::subscribe_revoked, trouble::scripts_revoked,
                                trouble::password_set,      trouble::too_many_clients};

constexpr std::size_t usual_maxclients = 10'000;

}  // namespace

void redis_store::refuse(trouble what, bool begins) {
  const auto revoke = [&](const char* command) {
    begins ? server_.forbid(command) : server_.allow(command);
  };
  switch (what) {
    case trouble::disk_full: return server_.set_disk_full(begins);
    case trouble::too_few_replicas: return server_.set_too_few_replicas(begins);
    case trouble::long_script: return server_.set_busy(begins);
    case trouble::cluster_down: return server_.set_cluster_down(begins);
    case trouble::master_down: server_.set_stale(begins); return server_.set_readonly(begins);
    case trouble::publish_revoked: return revoke("publish");
    case trouble::subscribe_revoked: return revoke("subscribe");
    case trouble::scripts_revoked: revoke("eval"); return revoke("evalsha");
    case trouble::password_set:
      return begins ? server_.require_password("default", "new") : server_.require_no_password();
    case trouble::too_many_clients:
      return server_.set_maxclients(begins ? server_.connections() : usual_maxclients);
    default: return;
  }
}

void redis_store::allow_all() {
  for (const trouble what : refusals) refuse(what, false);
}

}  // namespace holdfast::sim
