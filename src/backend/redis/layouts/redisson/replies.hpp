// What the scripts of layouts `redisson` and `redisson-fair` have in common: the counter of their
// numbers, the reply to an acquire, and the errors of their own. Those of `redisson-rw` have all
// but one of the errors.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "backend/redis/layouts/retrying_codec.hpp"

namespace holdfast::redis::redisson {

inline constexpr error_meaning
    bad_type{"BADTYPE", errc::mismatch, false, false,
             "it is no lock, or another kind of lock; choose another name, or ?prefix="};
inline constexpr error_meaning bad_token{
    "BADTOKEN", errc::refused, false, false,
    "it must hold a whole number below 2^53, which the lock counts up; it was written by another "
    "program. Delete it where no fencing token of this lock is kept, or set a higher number than "
    "any of them"};

std::span<const error_meaning> errors_of_scripts() noexcept;

// Of RFencedLock.
std::string counter_of(std::string_view key);

// {1, the number} granted | {0, ms until another try can succeed; -1: not known} busy.
retrying_reply read_try(const value&, retrying_reply);

// {what is left of the lease in ms, waiters; -1: not known, owner, its holds, ...} | {} nobody.
std::vector<holder> read_holders(const value&);

}  // namespace holdfast::redis::redisson
