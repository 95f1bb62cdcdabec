// An operator's queries of a Redlock go to every server, and a majority of the answers decides.
#pragma once
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "backend/redis/layouts/redlock/redlock_node.hpp"
#include "backend/redis/topologies/topology.hpp"
#include "seam/result_handler.hpp"

namespace holdfast::redis {

// Fewer answers than a majority are none.
template <class T>
class majority_answers final : public seam::result_handler<T>, private seam::awaited_answers {
 public:
  majority_answers(std::size_t servers, seam::result_handler<T>& to)
      : awaited_answers(servers), to_(to), servers_(servers) {}

  void on_result(T part) override {
    note([&] { all_.push_back(std::move(part)); });
  }
  void on_failed(base::failure why) override {
    note([&] {
      if (!why_.code) why_ = std::move(why);
    });
  }

 private:
  void conclude() override {
    const std::size_t majority = majority_of(servers_);
    if (all_.size() >= majority) {
      to_.on_result(decide(all_, majority));
    } else if (why_.code != errc::unavailable) {
      to_.on_failed(std::move(why_));
    } else {
      to_.on_failed({errc::no_quorum, std::to_string(all_.size()) + " of " +
                                          std::to_string(servers_) + " servers answer, and " +
                                          std::to_string(majority) + " have to: " + why_.text});
    }
  }

  // The owner had a majority, if those that did not answer had it too. What is left of an earlier
  // owner at fewer servers is removed, and it was not the holder.
  bool decide(const std::vector<bool>& all, std::size_t majority) const {
    const auto broken = static_cast<std::size_t>(std::ranges::count(all, true));
    return broken > 0 && broken + servers_ - all.size() >= majority;
  }
  // The same holder at a majority. Of its leases, the majority-th longest counts.
  static std::vector<holder> decide(std::vector<std::vector<holder>>& all, std::size_t majority) {
    std::vector<holder> seen, out;
    for (std::vector<holder>& part : all) std::ranges::move(part, std::back_inserter(seen));
    std::ranges::sort(seen, [](const holder& a, const holder& b) {
      return std::tie(a.name, a.owner, b.expires_in) < std::tie(b.name, b.owner, a.expires_in);
    });
    for (auto first = seen.begin(); first != seen.end();) {
      const auto last = std::find_if(first, seen.end(), [&](const holder& h) {
        return h.name != first->name || h.owner != first->owner;
      });
      if (static_cast<std::size_t>(last - first) >= majority)
        out.push_back(*(first + static_cast<std::ptrdiff_t>(majority - 1)));
      first = last;
    }
    return out;
  }

  seam::result_handler<T>& to_;
  const std::size_t servers_;
  std::vector<T> all_;
  base::failure why_;
};

// Without the reactor's mutex: ask_one(const lock_server&, seam::result_handler<T>&). A holder is
// one that a majority of the servers shows; its lease is what a majority of them still has.
template <class T, class Ask>
void ask_majority(std::span<redlock_node* const> servers, seam::result_handler<T>& to,
                  Ask ask_one) {
  auto* const all = new majority_answers<T>(servers.size(), to);
  for (redlock_node* const n : servers) ask_one(lock_server{n->over(), nullptr}, *all);
}

}  // namespace holdfast::redis
