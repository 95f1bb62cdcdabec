// An operator's queries of a Redlock go to every server, and a majority of the answers decides.
#pragma once
#include <span>
#include <string_view>

#include "backend/redis/layouts/redlock/codec.hpp"
#include "seam/result_handler.hpp"

namespace holdfast::redis {

class redlock_node;

// Without the reactor's mutex. A holder is one that a majority of the servers shows; its lease is
// what a majority of them still has.
void start_inspection(std::span<redlock_node* const>, const redlock::codec&,
                      std::string_view key_prefix, std::string_view prefix, seam::holders_handler&);
void start_holders_query(std::span<redlock_node* const>, const redlock::codec&,
                         std::string_view key_prefix, std::string_view name,
                         seam::holders_handler&);
// Releases the lock under the owner that somebody saw, at every server.
void start_breaking(std::span<redlock_node* const>, const redlock::codec&, std::string_view key,
                    std::string_view seen, seam::decision_handler&);

}  // namespace holdfast::redis
