// Errors as replies to a claim: those of the server, and those of the scripts of layout `string`.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "backend/redis/recipes/protocol.hpp"
#include "backend/redis/transport/error_text.hpp"

namespace holdfast::redis {

class value;

inline constexpr std::string_view other_kind = "OTHERKIND";  // another kind of lock
inline constexpr std::string_view other_type = "BADTYPE";    // no lock at all
inline constexpr std::string_view counter_ahead = "AHEAD";   // of the server's clock

// The reply to a claim whose request the server answered with an error; `r` carries what is known
// from the request. not_now: the failure passes.
reply read_error(const value&, reply r);
reply read_error_text(std::string_view, reply r);
std::span<const error_meaning> own_errors() noexcept;  // of its scripts
std::string explain_reply(std::string_view error);     // what it means and what to do

}  // namespace holdfast::redis
