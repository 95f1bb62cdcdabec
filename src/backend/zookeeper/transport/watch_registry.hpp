// The watches that are armed at the server. They belong to one connection and fire once: after
// each re-attachment those left are set again.
#pragma once
#include <memory>
#include <set>
#include <string_view>

#include "backend/zookeeper/transport/replies.hpp"
#include "backend/zookeeper/transport/requests.hpp"

namespace holdfast::zookeeper {

class watch_registry {
 public:
  // A request that sets a watch was answered. An exists of a node that is there watches its data:
  // set again as a watch for the creation, it would fire at once.
  void on_answered(opcode op, error code, std::string_view path);
  void on_event(const watch_event&);  // those that fired are gone
  watched_paths all() const;          // views of the paths that are kept here
  void clear() noexcept;

 private:
  // A path takes no more room than it needs: each lock that is held has one here.
  using kept_path = std::unique_ptr<const char[]>;
  struct by_text {
    using is_transparent = void;
    static std::string_view text_of(std::string_view text) noexcept { return text; }
    static std::string_view text_of(const kept_path& p) noexcept { return p.get(); }
    template <class Left, class Right>
    bool operator()(const Left& l, const Right& r) const noexcept {
      return text_of(l) < text_of(r);
    }
  };
  using paths = std::set<kept_path, by_text>;
  static void add(paths&, std::string_view);

  paths data_, exist_, child_;
};

}  // namespace holdfast::zookeeper
