// Compiled with debugging information, so that abidw sees the layout of every public type.
#include <holdfast/holdfast.h>
#include <holdfast/holdfast.hpp>

#include <optional>
#include <string>
#include <vector>

namespace holdfast_abi {

void locks(holdfast::client&, holdfast::mutex&, holdfast::recursive_mutex&, holdfast::shared_mutex&,
           holdfast::semaphore&, holdfast::multi_mutex&, holdfast::lease&, holdfast::lease_set&,
           holdfast::election&, holdfast::lock_names&, holdfast::memory_store&, holdfast::url&) {}
void values(holdfast::acquire_options&, holdfast::open_options&, holdfast::features&,
            holdfast::holder&, holdfast::finding&, holdfast::metrics&, holdfast::lock_error&,
            holdfast::errc&, holdfast::outcome&, holdfast::log_hook&, holdfast::lock_kind&) {}
void guards(holdfast::fence&, holdfast::fencing_guard&, holdfast::redis_guard&,
            holdfast::zookeeper_guard&, holdfast::mysql_guard&, holdfast::mysql_connection&,
            holdfast::optimistic_table&, holdfast::draft_table&, holdfast::versioned_table&,
            holdfast::versioned_row&, holdfast::update_outcome&, holdfast::conflict_limits&,
            holdfast::draft&, holdfast::draft_columns&, holdfast::guarded_row&) {}
void calls(holdfast::detail::acquire_call&, holdfast::detail::wait_bound&) {}
void c(holdfast_open_options&, holdfast_acquire_options&, holdfast_errc&, holdfast_outcome&,
       holdfast_mode&, holdfast_renewal&, holdfast_log_level&) {}

}  // namespace holdfast_abi
