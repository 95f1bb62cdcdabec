// The exit codes of holdfast. `holdfast run` otherwise exits with the code of its command.
#pragma once

namespace holdfast::cli {

inline constexpr int exit_busy = 1;  // not got, not free, not broken; unless -E says otherwise
inline constexpr int exit_free = 1;  // `show` of a lock that nobody holds
inline constexpr int exit_bad = 1;   // `diagnose` or `explain` found something bad
inline constexpr int exit_none_recorded = 2;  // `explain`: there is no recording of the lock
inline constexpr int exit_usage = 64;         // EX_USAGE
inline constexpr int exit_broken = 69;        // EX_UNAVAILABLE
inline constexpr int exit_lost = 75;          // EX_TEMPFAIL
inline constexpr int exit_cannot_run = 126;
inline constexpr int exit_not_found = 127;
inline constexpr int exit_by_signal = 128;  // plus the signal's number

}  // namespace holdfast::cli
