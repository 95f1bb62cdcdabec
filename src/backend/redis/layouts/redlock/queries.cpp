#include "backend/redis/layouts/redlock/queries.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "backend/redis/layouts/redlock/redlock_node.hpp"
#include "backend/redis/layouts/retrying_queries.hpp"
#include "backend/redis/topologies/topology.hpp"
#include "seam/result_handler.hpp"

namespace holdfast::redis {

namespace {

// Fewer answers than a majority are none.
template <class T>
class answers final : public seam::result_handler<T>, private seam::awaited_answers {
 public:
  answers(std::size_t servers, seam::result_handler<T>& to)
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

  static bool decide(const std::vector<bool>& all, std::size_t) {
    return std::ranges::find(all, true) != all.end();
  }
  // The same holder at a majority. Of its leases, the majority-th longest counts.
  static std::vector<holder> decide(std::vector<std::vector<holder>>& all, std::size_t majority) {
    std::vector<holder> seen, out;
    for (std::vector<holder>& part : all) std::ranges::move(part, std::back_inserter(seen));
    std::ranges::sort(seen, [](const holder& a, const holder& b) {
      if (a.name != b.name) return a.name < b.name;
      if (a.owner != b.owner) return a.owner < b.owner;
      return a.expires_in > b.expires_in;
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

template <class T, class Ask>
void ask(std::span<redlock_node* const> servers, seam::result_handler<T>& to, Ask ask_one) {
  auto* const all = new answers<T>(servers.size(), to);
  for (redlock_node* const n : servers) ask_one(n->over(), *all);
}

}  // namespace

void start_inspection(std::span<redlock_node* const> servers, const redlock::codec& c,
                      std::string_view key_prefix, std::string_view prefix,
                      seam::holders_handler& to) {
  ask(servers, to, [&](transport& over, seam::holders_handler& part) {
    start_inspection({over, nullptr}, c, key_prefix, prefix, part);
  });
}

void start_holders_query(std::span<redlock_node* const> servers, const redlock::codec& c,
                         std::string_view key_prefix, std::string_view name,
                         seam::holders_handler& to) {
  ask(servers, to, [&](transport& over, seam::holders_handler& part) {
    start_holders_query({over, nullptr}, c, key_prefix, name, part);
  });
}

void start_breaking(std::span<redlock_node* const> servers, const redlock::codec& c,
                    std::string_view key, std::string_view seen, seam::decision_handler& to) {
  ask(servers, to, [&](transport& over, seam::decision_handler& part) {
    start_breaking({over, nullptr}, c, key, seen, part);
  });
}

}  // namespace holdfast::redis
