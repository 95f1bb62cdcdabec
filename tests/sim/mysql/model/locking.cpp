#include "tests/sim/mysql/model/locking.hpp"

#include <charconv>

namespace holdfast::sim {

bool reads(std::string_view statement) {
  return statement.starts_with("SELECT") || statement.starts_with("(SELECT");
}

locking locking_of(std::string_view statement) {
  if (!reads(statement)) return {.locks = true};
  const auto alone = statement.rfind(" FOR UPDATE");
  const auto together = statement.rfind(" LOCK IN SHARE MODE");
  if (alone == statement.npos && together == statement.npos) return {};
  const std::string_view rest = statement.substr(alone != statement.npos ? alone : together);
  locking out{.locks = true, .is_shared = alone == statement.npos};
  out.never_waits = rest.find(" NOWAIT") != rest.npos;
  out.skips = rest.find(" SKIP LOCKED") != rest.npos;
  constexpr std::string_view seconds_follow = " WAIT ";
  if (const auto at = rest.find(seconds_follow); at != rest.npos)
    std::from_chars(rest.data() + at + seconds_follow.size(), rest.data() + rest.size(),
                    out.most_s.emplace(0));
  return out;
}

}  // namespace holdfast::sim
