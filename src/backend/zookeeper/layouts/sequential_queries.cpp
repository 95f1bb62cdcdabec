#include "backend/zookeeper/layouts/sequential_queries.hpp"

#include <algorithm>

namespace holdfast::zookeeper {

namespace {

class sequential_query final : public holders_query {
 public:
  template <class... Args>
  explicit sequential_query(const sequential_codec& c, Args&&... args)
      : holders_query(std::forward<Args>(args)...), codec_(c) {}

 private:
  void ask_about(const std::string& name, time_point now) override {
    holder h;
    h.name = name;
    ask_list(lock_path(chroot(), name), std::move(h), now);
  }
  void read_list(question q, const node_children* all, time_point now) override {
    if (!all) return;
    const std::vector<node_in_line> line = codec_.line_of(all->names);
    const auto holding = std::ranges::count_if(line, &node_in_line::holds);
    q.found.waiting = static_cast<int>(std::ssize(line) - holding);
    for (const node_in_line& n : line) {
      if (!n.holds) continue;
      holder h = q.found;
      h.owner = n.name;
      h.mode = n.mode;
      std::string path = q.path + '/' + h.owner;
      ask_node(std::move(path), std::move(h), now);
    }
  }

  const sequential_codec& codec_;
};

}  // namespace

void start_holders_query(const query_context& context, const sequential_codec& c,
                         const std::string& chroot, std::string_view name, query_scope scope,
                         seam::holders_handler& to) {
  (new sequential_query(c, context, chroot, name, scope, to))->start();
}

}  // namespace holdfast::zookeeper
