// The options common to all backends, read from a URL's query.
#pragma once
#include <holdfast/options.hpp>
#include <holdfast/url.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.hpp"
#include "base/failure.hpp"
#include "base/log.hpp"
#include "base/mutant.hpp"

namespace holdfast::seam {
using namespace base;

inline constexpr std::chrono::milliseconds ttl_min{100};
inline constexpr std::chrono::milliseconds ttl_max = std::chrono::hours{24 * 366};

inline constexpr duration margin = std::chrono::milliseconds{2};  // subtracted from every deadline

struct client_options {
  std::chrono::milliseconds ttl{30'000};
  bool renew = true;
  duration grace{};       // added to the notice before a deadline
  duration clock_skew{};  // subtracted from every deadline
  duration connect_timeout = std::chrono::seconds{5};
  duration op_timeout = std::chrono::seconds{5};
  duration close_timeout = std::chrono::seconds{2};
  duration outage_timeout = duration::max();  // how long a waiter waits through an outage
  std::optional<std::uint32_t> turns;         // none: capabilities::turns
  duration turn_time = std::chrono::milliseconds{5};
  duration linger{};              // how long a grant is kept after the last unlock
  bool admit_after_loss = false;  // a new turn may start before the holder of a lost lease has left
  bool metrics = false;
  bool recorder = true;  // records lock events for `holdfast explain`
  bool strict = false;   // options without effect on this backend are refused
  log_sink log;
};

// The time for which a lease of that ttl is valid, counted from its send, when the local clock may
// run one percent slower than the store's.
inline duration worth(duration ttl, duration clock_skew) noexcept {
  return planted(mutant::deadline_without_margin) ? ttl : ttl - ttl / 100 - margin - clock_skew;
}
// Empty, or what is wrong with a ttl of this client and the remedy.
std::string_view ttl_fault(std::chrono::milliseconds ttl, const client_options&) noexcept;
// The same for a backend whose leases have a limit of their own; code {}: it can be used.
base::failure limit_fault(base::duration ttl, base::duration limit);

// Reads the common options of the URL and returns the others in `remaining`, for the backend.
// Throws lock_error (bad_option) for an invalid value.
client_options read_client_options(const url&, std::vector<url::option>& remaining,
                                   const open_options& = {});

// The text of a URL without these options and without the user: what identifies the store.
std::string without_client_options(std::string_view url_text);

// "1500ms", "1.5s", "2m", "1h"; a bare number is seconds. Throws lock_error (bad_option) naming
// `option`.
duration parse_duration(std::string_view text, std::string_view option);
bool parse_bool(std::string_view text, std::string_view option);  // 1 0 true false yes no on off
double parse_number(std::string_view text, std::string_view option, double lowest, double highest);

// Neither the core nor the backend knows the option.
[[noreturn]] void refuse_unknown_option(const url&, std::string_view name,
                                        std::span<const std::string_view> known_to_backend);

}  // namespace holdfast::seam
