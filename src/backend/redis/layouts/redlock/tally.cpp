#include "backend/redis/layouts/redlock/tally.hpp"

#include <span>

#include "base/mutant.hpp"

namespace holdfast::redis {

namespace {

template <class T>
struct sorted {
  std::array<T, independent_servers_max> items;
  std::size_t size = 0;

  void add(T item) noexcept {
    const auto end = items.begin() + static_cast<std::ptrdiff_t>(size++);
    const auto at = std::upper_bound(items.begin(), end, item);
    std::move_backward(at, end, end + 1);
    *at = item;
  }
};

}  // namespace

std::size_t tally::count(vote v) const noexcept {
  return static_cast<std::size_t>(
      std::count_if(ballots_.begin(), ballots_.begin() + static_cast<std::ptrdiff_t>(servers_),
                    [&](const ballot& b) { return b.what == v; }));
}

std::int64_t tally::number() const noexcept {
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < servers_; ++i) {
    if (ballots_[i].what != vote::yes) continue;
    if (has_majority_at(ballots_[i].number)) return ballots_[i].number;
    largest = std::max(largest, ballots_[i].number);
  }
  return largest;
}

bool tally::has_majority_at(std::int64_t number) const noexcept {
  const auto has = [&](const ballot& b) { return b.what == vote::yes && b.number == number; };
  const auto all = std::span(ballots_).first(servers_);
  return static_cast<std::size_t>(std::ranges::count_if(all, has)) >= majority();
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
  std::size_t out = 0;
  for (std::size_t i = 0; i < servers_; ++i)
    if (ballots_[i].what == vote::yes && ballots_[i].number >= number) ++out;
  return out;
}

bool tally::is_nobodys() const noexcept {
  return std::none_of(ballots_.begin(), ballots_.begin() + static_cast<std::ptrdiff_t>(servers_),
                      [](const ballot& b) { return b.what == vote::no && b.holder != 0; });
}

bool tally::may_be_held() const noexcept {
  const std::size_t unknown = count(vote::missing) + count(vote::awaited);
  for (std::size_t i = 0; i < servers_; ++i) {
    if (ballots_[i].what != vote::no) continue;
    std::size_t same = 0;
    for (std::size_t j = 0; j < servers_; ++j)
      if (ballots_[j].what == vote::no && ballots_[j].holder == ballots_[i].holder) ++same;
    if (same + unknown >= majority()) return true;
  }
  return false;
}

duration tally::rest() const noexcept {
  sorted<duration> rests;
  for (std::size_t i = 0; i < servers_; ++i)
    if (ballots_[i].what == vote::no) rests.add(ballots_[i].rest);
  const std::size_t has = count(vote::yes);
  const std::size_t lacks = has < majority() ? majority() - has : 0;
  if (lacks == 0) return {};
  return lacks <= rests.size ? rests.items[lacks - 1] : duration::max();
}

}  // namespace holdfast::redis
