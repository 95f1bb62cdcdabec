#include "backend/zookeeper/layouts/single_node/queries.hpp"

#include "backend/zookeeper/layouts/single_node/data.hpp"

namespace holdfast::zookeeper::single_node {

namespace {

class node_holders_query final : public holders_query {
 public:
  using holders_query::holders_query;

 private:
  void ask_about(const std::string& name, time_point now) override {
    holder h;
    h.name = name;
    ask_node(lock_path(chroot(), name), std::move(h), now);
  }
  void read_list(question, const node_children*, time_point) override {}
  bool read_holder(const node_data& node, holder& h) override {
    if (node.stat.ephemeral_owner == 0) return false;  // no lock of this layout
    content found = single_node::read(node);
    h.owner = std::move(found.owner);
    fill(h, node, std::move(found.who));
    return true;
  }
};

}  // namespace

void start_holders_query(const query_context& context, const std::string& chroot,
                         std::string_view name, query_scope scope, seam::holders_handler& to) {
  (new node_holders_query(context, chroot, name, scope, to))->start();
}

}  // namespace holdfast::zookeeper::single_node
