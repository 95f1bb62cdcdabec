// The meaning of a server's error for a lock, with the remedy.
#pragma once
#include <holdfast/error.hpp>

#include <string>
#include <string_view>

#include "backend/zookeeper/transport/replies.hpp"

namespace holdfast::zookeeper {

errc errc_of(error) noexcept;
std::string explain(error, std::string_view lock_path);
std::string explain_exhausted(std::string_view lock_path);
// The failure to create that node, which depends on the ACL and the kind of its parent.
std::string explain_creation(error, std::string_view path);

inline constexpr std::string_view malformed_reply =
    "the server's reply is malformed; a proxy may corrupt it";
inline constexpr std::string_view epochs_exhausted =
    "the ensemble's epoch is above 2^21: its transaction ids no longer fit into a token; use a "
    "new ensemble";
inline constexpr std::string_view went_back =
    "the ensemble's transaction ids went back: it was restored or emptied, and a token would be "
    "smaller than an earlier one; open a new client after the tokens that guards have stored were "
    "reset";

}  // namespace holdfast::zookeeper
