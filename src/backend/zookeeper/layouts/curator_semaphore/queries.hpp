// Queries of an operator: the holders of permits, and breaking their locks. Each answers later, or
// from inside the call.
#pragma once
#include <string>
#include <string_view>

#include "backend/zookeeper/layouts/holders_query.hpp"

namespace holdfast::zookeeper::curator_semaphore {

void start_holders_query(const query_context&, const std::string& chroot, std::string_view name,
                         query_scope, seam::holders_handler&);
// Asks the owner of these leases for them, and then removes them, as lock_breaking.hpp says.
// Curator's semaphore does not listen.
void start_breaking(const query_context&, const std::string& lock_path, std::string_view seen,
                    base::duration revocation, seam::decision_handler&);

}  // namespace holdfast::zookeeper::curator_semaphore
