#include "backend/zookeeper/layouts/single_node/queries.hpp"

#include <algorithm>
#include <deque>
#include <vector>

#include "backend/zookeeper/layouts/lock_path.hpp"
#include "backend/zookeeper/layouts/node_holder.hpp"
#include "backend/zookeeper/layouts/node_query.hpp"
#include "backend/zookeeper/layouts/single_node/data.hpp"

namespace holdfast::zookeeper::single_node {

namespace {

// The nodes below the chroot, where it is not about one; then what stands in each.
class holders_query final : public node_query {
 public:
  holders_query(const query_context& context, std::string chroot, std::string_view name,
                bool is_one, core::holders_handler& to)
      : node_query(context), chroot_(std::move(chroot)), name_(name), is_one_(is_one), to_(to) {}

 private:
  void send_first(time_point now) override {
    is_one_ ? look_at(name_, now) : list(chroot_.empty() ? "/" : chroot_, now);
  }
  void look_at(const std::string& name, time_point now) {
    asked_.push_back(name);
    look(lock_path(chroot_, name), now);
  }
  void read(std::size_t at, const reply& r, time_point now) override {
    if (!is_one_ && at == 0) return read_names(r, now);
    const std::string name = std::move(asked_.front());
    asked_.pop_front();
    if (r.is(error::no_node)) return;
    if (!r.is_ok()) {
      // Among many locks, one that this user may not read is left out.
      if (is_one_) fail({errc_of(r.head.code), explain(r.head.code, lock_path(chroot_, name))});
      return;
    }
    const auto node = read_data(r.body);
    if (!node) return fail({errc::unavailable, std::string(malformed_reply)});
    if (node->stat.ephemeral_owner == 0) return;  // no lock of this layout
    content found = single_node::read(*node);
    holder h = holder_of(*node, std::move(found.who), env());
    h.name = name;
    h.owner = std::move(found.owner);
    found_.push_back(std::move(h));
  }
  void read_names(const reply& r, time_point now) {
    if (r.is(error::no_node)) return;
    if (!r.is_ok()) return fail({errc_of(r.head.code), explain(r.head.code, chroot_)});
    const auto all = read_children(r.body);
    if (!all) return fail({errc::unavailable, std::string(malformed_reply)});
    for (const std::string& name : lock_names(chroot_, name_, all->names)) look_at(name, now);
  }
  void report() override {
    why.code ? to_.on_failed(std::move(why)) : to_.on_holders(std::move(found_));
  }

  const std::string chroot_, name_;  // name_: or its beginning
  const bool is_one_;
  core::holders_handler& to_;
  std::deque<std::string> asked_;  // in the order of sending
  std::vector<holder> found_;
};

}  // namespace

void start_inspection(const query_context& context, const std::string& chroot,
                      std::string_view prefix, core::holders_handler& to) {
  (new holders_query(context, chroot, prefix, false, to))->start();
}

void start_holders_query(const query_context& context, const std::string& chroot,
                         std::string_view name, core::holders_handler& to) {
  (new holders_query(context, chroot, name, true, to))->start();
}

}  // namespace holdfast::zookeeper::single_node
