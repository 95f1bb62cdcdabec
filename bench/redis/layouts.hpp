// Rows about one layout, which this build may not have.
#pragma once
#include <holdfast/holdfast.hpp>

#include <string>

#include "redis/fixture.hpp"
#include "row.hpp"

namespace bench {

inline std::string query_of(const std::string& layout) { return "?unsafe=1&layout=" + layout; }

// Empty when there is such a layout; else why a contest on it is skipped.
inline std::string why_not(const redis_fixture& fixture, const std::string& layout) {
  std::error_code ec;
  (void)holdfast::client::open(fixture.url(query_of(layout)), ec);
  return ec == holdfast::errc::bad_option ? "there is no layout " + layout + " yet" : "";
}

inline void need_layout(const redis_fixture& fixture, const std::string& layout) {
  const std::string why = why_not(fixture, layout);
  if (!why.empty()) throw row_skipped(why);
}

}  // namespace bench
