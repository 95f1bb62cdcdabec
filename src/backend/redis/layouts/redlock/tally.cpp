#include "backend/redis/layouts/redlock/tally.hpp"

#include "base/mutant.hpp"

namespace holdfast::redis {

std::size_t tally::count(vote v) const noexcept {
  return static_cast<std::size_t>(std::ranges::count(all(), v, &ballot::what));
}

std::int64_t tally::number() const noexcept {
  std::int64_t largest = 0;
  for (const ballot& b : all()) {
    if (b.what != vote::yes) continue;
    if (has_majority_at(b.number)) return b.number;
    largest = std::max(largest, b.number);
  }
  return largest;
}

bool tally::has_majority_at(std::int64_t number) const noexcept {
  const auto has = [&](const ballot& b) { return b.what == vote::yes && b.number == number; };
  return static_cast<std::size_t>(std::ranges::count_if(all(), has)) >= majority();
}

void tally::begin_raising(std::int64_t number) noexcept {
  std::size_t room = majority();
  for (std::int64_t next = number; room > 0 && next > 0;) {  // from the largest number down
    std::int64_t below = 0;
    for (std::size_t i = 0; i < servers_; ++i) {
      ballot& b = ballots_[i];
      if (b.what != vote::yes) continue;
      if (b.number == next && room > 0 && !b.is_in_quorum) {
        b.is_in_quorum = true;
        --room;
      } else if (b.number < next) {
        below = std::max(below, b.number);
      }
    }
    next = below;
  }
  for (std::size_t i = 0; i < servers_; ++i) {
    ballot& b = ballots_[i];
    const bool is_late = b.what == vote::awaited && !base::planted(base::mutant::late_vote_raised);
    if (is_late || (b.what == vote::yes && !b.is_in_quorum)) b.what = vote::missing;
  }
}

std::size_t tally::count_at(std::int64_t number) const noexcept {
  const auto has = [&](const ballot& b) { return b.what == vote::yes && b.number >= number; };
  return static_cast<std::size_t>(std::ranges::count_if(all(), has));
}

bool tally::is_nobodys() const noexcept {
  return std::ranges::none_of(all(),
                              [](const ballot& b) { return b.what == vote::no && b.holder != 0; });
}

bool tally::may_be_held() const noexcept {
  const std::size_t unknown = count(vote::missing) + count(vote::awaited);
  return std::ranges::any_of(all(), [&](const ballot& b) {
    const auto is_same = [&](const ballot& other) {
      return other.what == vote::no && other.holder == b.holder;
    };
    const auto same = static_cast<std::size_t>(std::ranges::count_if(all(), is_same));
    return b.what == vote::no && same + unknown >= majority();
  });
}

duration tally::rest() const noexcept {
  const std::size_t has = count(vote::yes);
  if (has >= majority()) return {};
  std::array<duration, independent_servers_max> rests;
  std::ranges::transform(ballots_, rests.begin(), [](const ballot& b) {
    return b.what == vote::no ? b.rest : duration::max();
  });
  std::ranges::sort(rests);
  return rests[majority() - has - 1];
}

}  // namespace holdfast::redis
