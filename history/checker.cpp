#include "history/checker.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "history/claims.hpp"

namespace holdfast::history {
namespace {

using records = std::vector<const record*>;

class judge {
 public:
  judge(const lock_history& one, const check_options& options) : one_(one), options_(options) {
    for (const record* r : one.records)
      if (r->what == operation::downgrade && r->outcome == result::ok) downgraded_.insert(r->token);
  }

  std::vector<violation> sentence() {
    overlaps();
    for (const auto& claim : one_.claims) seen_held(claim);
    tokens_by_claim();
    grows(select(operation::acquire), true, fault::token_not_grown);
    grows(select(operation::write), false, fault::stale_write);
    wake_ups();
    std::ranges::stable_sort(found_, {}, [](const violation& v) { return v.second.call; });
    return std::move(found_);
  }

 private:
  void report(fault what, const record& first, const record& second) {
    if (reported_.emplace(what, &second).second) found_.push_back({what, first, second});
  }

  records select(operation what) const {
    records chosen;
    for (const record* r : one_.records)
      if (r->what == what && r->outcome == result::ok && r->token != 0) chosen.push_back(r);
    return chosen;
  }

  // Compares each claim with the one that lasts longest among those that began before it.
  void overlaps() {
    std::vector<const claim_of_lock*> under_way;
    for (const auto& claim : one_.claims) {
      if (claim.empty()) continue;
      std::erase_if(under_way, [&](const auto* other) { return other->end <= claim.start; });
      const auto by_end = [](const auto* a, const auto* b) { return a->end > b->end; };
      under_way.insert(std::ranges::upper_bound(under_way, &claim, by_end), &claim);
      std::uint64_t permits = 0;
      for (const auto* other : under_way) {
        permits += other->acquire->permits;
        if (other == &claim) continue;
        if (exclude_each_other(*other, claim))
          report(fault::overlap, *other->acquire, *claim.acquire);
        else if (options_.readers_share_a_token && claim.is_share() &&
                 other->acquire->token != claim.acquire->token)
          report(fault::group_split, *other->acquire, *claim.acquire);
      }
      if (claim.is_of_permits() && permits > claim.acquire->of) {
        const auto* longest = under_way[under_way.front() == &claim ? 1 : 0];
        report(fault::too_many_permits, *longest->acquire, *claim.acquire);
      }
    }
  }

  static bool exclude_each_other(const claim_of_lock& a, const claim_of_lock& b) {
    if (a.is_of_permits()) return a.acquire->of != b.acquire->of;
    return b.is_of_permits() || !a.is_share() || !b.is_share();
  }

  void seen_held(const claim_of_lock& mine) {
    auto deadline = mine.acquire->deadline;
    for (const record* r : mine.seen_held) {
      if (mine.lost_by != nullptr && mine.lost_by->back < r->call)
        report(fault::revived, *mine.lost_by, *r);
      if (r->what == operation::check) {
        const auto limit = r->deadline == no_deadline ? deadline : r->deadline;
        if (r->call >= limit) report(fault::check_after_deadline, *mine.acquire, *r);
      }
      if (r->what == operation::renew || r->deadline != no_deadline) deadline = r->deadline;
      inside_another(mine, *r);
    }
  }

  // The last few claims that began before r are enough: of those that exclude each other more than
  // two reach there only if they overlap.
  void inside_another(const claim_of_lock& mine, const record& r) {
    auto after = std::ranges::upper_bound(one_.claims, r.call, {}, &claim_of_lock::start);
    for (int looked = 0; looked < 16 && after != one_.claims.begin(); ++looked) {
      --after;
      if (after->acquire == mine.acquire || !exclude_each_other(*after, mine)) continue;
      if (!is_founded_by(mine, *after) && r.back < after->end)
        report(fault::overlap, *after->acquire, r);
    }
  }

  static bool is_founded_by(const claim_of_lock& alone, const claim_of_lock& share) {
    return share.acquire->what == operation::downgrade &&
           share.acquire->process == alone.acquire->process &&
           share.acquire->token == alone.acquire->token;
  }

  // Readers of one group have one token: that of its first reader, or of the writer who founded it.
  bool may_be_the_same(const record& first, const record& second) const {
    if (!second.shared && second.what != operation::downgrade) return false;
    return first.shared || downgraded_.contains(first.token);
  }

  // The records with the largest token so far: of all, and of those that exclude readers.
  struct largest {
    const record *of_all = nullptr, *of_exclusive = nullptr;

    void add(const record& r) {
      if (of_all == nullptr || r.token > of_all->token) of_all = &r;
      const bool is_exclusive = !r.shared && r.what != operation::downgrade;
      if (is_exclusive && (of_exclusive == nullptr || r.token > of_exclusive->token))
        of_exclusive = &r;
    }
  };

  // What the token of r has to be compared with.
  const record* before(const record& r, const largest& so_far) const {
    const bool is_share = r.shared || r.what == operation::downgrade;
    return is_share && !options_.readers_share_a_token ? so_far.of_exclusive : so_far.of_all;
  }

  // Claims that were not over at once are granted in the order of their starts.
  void tokens_by_claim() {
    largest so_far;
    for (const auto& claim : one_.claims) {
      if (claim.acquire->token == 0 || claim.empty() || claim.is_of_permits()) continue;
      const record* highest = before(*claim.acquire, so_far);
      const bool grown = highest == nullptr || claim.acquire->token > highest->token;
      const bool same = !grown && claim.acquire->token == highest->token;
      if (!grown && !(same && may_be_the_same(*highest, *claim.acquire)))
        report(fault::token_not_grown, *highest, *claim.acquire);
      else
        so_far.add(*claim.acquire);
    }
  }

  // Whatever returned before another was called has the smaller token; two that ran at the same
  // time may have any order, but not, where `strictly`, the same token.
  void grows(const records& by_call, bool strictly, fault what) {
    records by_return = by_call;
    std::ranges::stable_sort(by_return, {}, &record::back);
    largest so_far;
    auto returned = by_return.begin();
    for (const record* r : by_call) {
      for (; returned != by_return.end() && (*returned)->back < r->call; ++returned)
        so_far.add(**returned);
      const record* highest = before(*r, so_far);
      if (highest == nullptr || r->of != 0) continue;
      const bool twin = strictly && r->token == highest->token && !may_be_the_same(*highest, *r);
      if (r->token < highest->token || twin) report(what, *highest, *r);
    }
    if (!strictly) return;
    records by_token = by_call;
    std::ranges::stable_sort(by_token, {}, &record::token);
    const auto same = [this](const record* a, const record* b) {
      return a->token == b->token && !may_be_the_same(*a, *b) && !may_be_the_same(*b, *a);
    };
    for (auto twin = by_token.begin();; ++twin) {
      twin = std::adjacent_find(twin, by_token.end(), same);
      if (twin == by_token.end()) return;
      report(what, **twin, **std::next(twin));
    }
  }

  struct stay {  // a time in which the lock may have been taken
    std::int64_t from, to;
    const record* ended_by;
  };

  std::vector<stay> stays() const {
    std::vector<stay> taken;
    for (const auto& claim : one_.claims) taken.push_back({claim.start, claim.gone, claim.gone_by});
    for (const record* r : one_.records)
      if (r->what == operation::acquire && r->outcome == result::unknown)
        taken.push_back({r->call, later(r->back, options_.lapse), r});
    std::ranges::stable_sort(taken, {}, &stay::from);
    return taken;
  }

  struct gap {  // a time in which the lock was free
    std::int64_t from, to;
    const record* after;
  };

  std::vector<gap> long_gaps() const {
    std::vector<gap> gaps;
    gap next{0, 0, nullptr};
    const auto close_at = [&](std::int64_t to) {
      next.to = to;
      if (to > later(next.from, options_.wake_bound)) gaps.push_back(next);
    };
    for (const auto& taken : stays()) {
      close_at(taken.from);
      if (taken.to > next.from) next = {taken.to, 0, taken.ended_by};
    }
    close_at(no_deadline);
    return gaps;
  }

  void wake_ups() {
    if (options_.wake_bound == std::chrono::nanoseconds::max()) return;
    const auto gaps = long_gaps();
    for (const record* r : one_.records) {
      if (r->what != operation::acquire) continue;
      if (r->outcome != result::ok && r->outcome != result::busy) continue;
      auto free = std::ranges::upper_bound(gaps, r->call, {}, &gap::to);
      for (; free != gaps.end() && free->from < r->back; ++free) {
        const auto waited = std::min(free->to, r->back) - std::max(free->from, r->call);
        if (waited <= options_.wake_bound.count()) continue;
        report(fault::lost_wake_up, free->after != nullptr ? *free->after : *r, *r);
        break;
      }
    }
  }

  const lock_history& one_;
  const check_options& options_;
  std::set<std::int64_t> downgraded_;  // tokens
  std::set<std::pair<fault, const record*>> reported_;
  std::vector<violation> found_;
};

}  // namespace

std::vector<violation> check(std::span<const record> all, const check_options& options) {
  std::vector<violation> found;
  for (const auto& one : sort_by_lock(all, options.lapse))
    std::ranges::move(judge(one, options).sentence(), std::back_inserter(found));
  return found;
}

std::string to_text(fault what) {
  constexpr std::array<std::string_view, 8> words = {
      "two hold the lock at a time",
      "a check was true after the deadline",
      "a lost lease came back",
      "a token does not grow",
      "a stale write was taken",
      "a waiter was left waiting while the lock was free",
      "more permits are held than there are",
      "readers hold the lock together under two tokens",
  };
  return std::string(words.at(static_cast<std::size_t>(what)));
}

std::string to_text(const violation& v) {
  return to_text(v.what) + ":\n  " + to_line(v.first) + "\n  " + to_line(v.second) + "\n";
}

std::string to_text(const std::vector<violation>& all) {
  std::string text;
  for (const auto& v : all) text += to_text(v);
  return text;
}

}  // namespace holdfast::history
