#include "backend/zookeeper/layouts/error_text.hpp"

namespace holdfast::zookeeper {

errc errc_of(error e) noexcept {
  switch (e) {
    case error::no_auth:
    case error::auth_failed:
    case error::invalid_acl:
    case error::quota_exceeded:
    case error::no_node: return errc::refused;
    case error::no_children_for_ephemerals: return errc::mismatch;
    case error::node_exists: return errc::exhausted;
    case error::unimplemented: return errc::unsupported;
    default: return errc::unavailable;
  }
}

std::string explain(error e, std::string_view lock_path) {
  const std::string at(lock_path);
  switch (e) {
    case error::no_auth:
      return "the ACL of " + at + " refuses this user; it needs r and c there, and d to release";
    case error::no_node:
      return "the path above " + at + " does not exist; create it, or leave it out of the URL";
    case error::no_children_for_ephemerals:
      return at + " is an ephemeral node, which cannot have children; use another lock name";
    case error::node_exists: return explain_exhausted(lock_path);
    case error::quota_exceeded: return "the quota of the path above " + at + " is used up";
    case error::unimplemented: return "the server is older than 3.5; use a newer one";
    default:
      return "the server answers with error " + std::to_string(static_cast<int>(e)) + " about " +
             at;
  }
}

std::string explain_exhausted(std::string_view lock_path) {
  return "the sequence of " + std::string(lock_path) +
         " has come close to its limit of 2147483647, beyond which the server does not keep the "
         "order of the nodes; delete that node while no client holds or wants the lock, or use "
         "another name";
}

std::string explain_creation(error e, std::string_view path) {
  const bool is_of_parent = e == error::no_auth || e == error::no_children_for_ephemerals;
  if (!is_of_parent) return explain(e, path);
  const std::string_view parent = path.substr(0, path.rfind('/'));
  return explain(e, parent.empty() ? "/" : parent);
}

}  // namespace holdfast::zookeeper
