// The nodes that a waiting claim watches: the nearest of those ahead of it. Pure.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backend/zookeeper/recipes/sequential.hpp"

namespace holdfast::zookeeper {

// Four claims that take turns know all that is ahead of them by their first list. The end of a node
// wakes as many claims.
inline constexpr std::size_t watched_ahead_max = 3;
using nearest_names = std::array<std::string_view, watched_ahead_max>;

// Nobody can get ahead of a node that is there: what a list has shown ahead only becomes less. So
// once all of it has ended, the claim holds the lock. Where more is ahead than is watched, the end
// of the farthest that is watched says that another list may show all of it.
class nodes_ahead {
 public:
  // By a list, the nearest first. What was watched before stays so.
  void show(const nearest_names&, bool are_all);
  bool are_watched() const noexcept;

  // Calls each(name) for those that are not watched yet; the answers come in this order.
  template <class Each>
  void ask_of_each(Each each) {
    unsigned asked = 0;
    for (node& n : nodes_) {
      if (n.czxid != 0) continue;
      n.asked_at = asked++;
      each(n.name);
    }
  }
  void on_watched(unsigned answer, std::int64_t czxid);
  void on_missing(unsigned answer);

  // A watch fired: the node was deleted, or else its data changed. `own_czxid`: a node that is
  // younger than the own one is there in spite of what is said above, and its end proves nothing.
  // False: it is none of those ahead.
  bool on_event(std::string_view name, bool was_deleted, std::int64_t own_czxid);

  what_is_ahead now() const noexcept;

 private:
  static constexpr unsigned not_asked = ~0u;
  struct node {
    bool is_awaited(unsigned answer) const noexcept { return czxid == 0 && asked_at == answer; }
    std::string name;
    std::int64_t czxid = 0;  // as the watch was armed; 0: none is
    unsigned asked_at = not_asked;
  };
  void end(std::vector<node>::iterator);

  std::vector<node> nodes_;  // nearest first
  bool are_all_ = false;
  bool is_outdated_ = false;  // only a list tells what is ahead
};

}  // namespace holdfast::zookeeper
