// The ttl of a run's lease, and the part of it that the job has for ending itself.
#pragma once
#include <holdfast/url.hpp>

#include <chrono>
#include <optional>

#include "cli/run_arguments.hpp"

namespace holdfast::cli {

struct lease_terms {
  std::chrono::nanoseconds ttl{}, grace{};
};

// From the arguments, else from the URL, else the defaults: 30 s, min(5 s, ttl / 5). Throws
// usage_error.
lease_terms terms_of(const run_arguments&, const std::optional<url>&);

}  // namespace holdfast::cli
