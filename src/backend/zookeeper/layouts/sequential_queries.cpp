#include "backend/zookeeper/layouts/sequential_queries.hpp"

#include <algorithm>
#include <deque>
#include <vector>

#include "backend/zookeeper/layouts/lock_path.hpp"
#include "backend/zookeeper/layouts/node_holder.hpp"
#include "backend/zookeeper/layouts/node_query.hpp"

namespace holdfast::zookeeper {

namespace {

// The locks below the chroot, where it is not about one; the nodes of each; the data of those that
// hold it.
class holders_query final : public node_query {
 public:
  holders_query(const query_context& context, const sequential_codec& c, std::string chroot,
                std::string_view name, bool is_one, core::holders_handler& to)
      : node_query(context),
        codec_(c),
        chroot_(std::move(chroot)),
        name_(name),
        is_one_(is_one),
        to_(to) {}

 private:
  struct question {
    enum { locks, line, node } about;
    std::string path;
    holder found;
  };

  void send_first(time_point now) override {
    if (is_one_) return ask_for_line(name_, now);
    asked_.push_back({question::locks, chroot_.empty() ? "/" : chroot_, {}});
    list(asked_.back().path, now);
  }
  void ask_for_line(const std::string& name, time_point now) {
    holder h;
    h.name = name;
    asked_.push_back({question::line, lock_path(chroot_, name), std::move(h)});
    list(asked_.back().path, now);
  }
  void read(std::size_t, const reply& r, time_point now) override {
    question q = std::move(asked_.front());
    asked_.pop_front();
    if (r.is(error::no_node)) return;  // nobody holds it, or not any more
    if (!r.is_ok()) {
      // Among many locks, one that this user may not read is left out.
      if (is_one_ || q.about == question::locks)
        fail({errc_of(r.head.code), explain(r.head.code, q.path)});
      return;
    }
    if (q.about == question::node) return read_node(std::move(q.found), r);
    const auto all = read_children(r.body);
    if (!all) return fail({errc::unavailable, std::string(malformed_reply)});
    q.about == question::locks ? read_locks(*all, now) : read_line(q, *all, now);
  }
  void read_locks(const node_children& all, time_point now) {
    for (const std::string& name : lock_names(chroot_, name_, all.names)) ask_for_line(name, now);
  }
  void read_line(const question& q, const node_children& all, time_point now) {
    const std::vector<node_in_line> line = codec_.line_of(all.names);
    const auto holding = std::ranges::count_if(line, &node_in_line::holds);
    for (const node_in_line& n : line) {
      if (!n.holds) continue;
      holder h = q.found;
      h.owner = n.name;
      h.how = n.mode;
      h.waiting = static_cast<int>(std::ssize(line) - holding);
      const std::string path = q.path + '/' + h.owner;
      asked_.push_back({question::node, path, std::move(h)});
      look(path, now);
    }
  }
  void read_node(holder h, const reply& r) {
    const auto node = read_data(r.body);
    if (!node) return fail({errc::unavailable, std::string(malformed_reply)});
    holder found = holder_of(*node, read_node_owner(node->data), env());
    found.name = std::move(h.name);
    found.owner = std::move(h.owner);
    found.how = h.how;
    found.waiting = h.waiting;
    found_.push_back(std::move(found));
  }
  void report() override {
    std::ranges::stable_sort(found_, {}, &holder::name);
    why.code ? to_.on_failed(std::move(why)) : to_.on_holders(std::move(found_));
  }

  const sequential_codec& codec_;
  const std::string chroot_, name_;  // name_: or its beginning
  const bool is_one_;
  core::holders_handler& to_;
  std::deque<question> asked_;  // in the order of sending
  std::vector<holder> found_;
};

}  // namespace

void start_inspection(const query_context& context, const sequential_codec& c,
                      const std::string& chroot, std::string_view prefix,
                      core::holders_handler& to) {
  (new holders_query(context, c, chroot, prefix, false, to))->start();
}

void start_holders_query(const query_context& context, const sequential_codec& c,
                         const std::string& chroot, std::string_view name,
                         core::holders_handler& to) {
  (new holders_query(context, c, chroot, name, true, to))->start();
}

}  // namespace holdfast::zookeeper
