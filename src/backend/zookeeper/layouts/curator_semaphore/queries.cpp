#include "backend/zookeeper/layouts/curator_semaphore/queries.hpp"

#include <deque>
#include <vector>

#include "backend/zookeeper/layouts/curator_semaphore/codec.hpp"
#include "backend/zookeeper/layouts/lock_path.hpp"
#include "backend/zookeeper/layouts/node_holder.hpp"
#include "backend/zookeeper/layouts/node_query.hpp"

namespace holdfast::zookeeper::curator_semaphore {

namespace {

std::string folder_in(const std::string& lock, std::string_view folder) {
  return lock + '/' + std::string(folder);
}

// The locks below the chroot, where it is not about one; the line and the leases of each; what
// stands in the first lease of each holder.
class holders_query final : public node_query {
 public:
  holders_query(const query_context& context, std::string chroot, std::string_view name,
                bool is_one, core::holders_handler& to)
      : node_query(context), chroot_(std::move(chroot)), name_(name), is_one_(is_one), to_(to) {}

 private:
  struct question {
    enum { locks, line, leases, node } about;
    std::string path;
    holder found;
  };

  void send_first(time_point now) override {
    if (is_one_) return ask_for(name_, now);
    asked_.push_back({question::locks, chroot_.empty() ? "/" : chroot_, {}});
    list(asked_.back().path, now);
  }
  void ask_for(const std::string& name, time_point now) {
    const std::string lock = lock_path(chroot_, name);
    holder h;
    h.name = name;
    asked_.push_back({question::line, folder_in(lock, line_folder), {}});
    list(asked_.back().path, now);
    asked_.push_back({question::leases, folder_in(lock, lease_folder), std::move(h)});
    list(asked_.back().path, now);
  }
  void read(std::size_t, const reply& r, time_point now) override {
    question q = std::move(asked_.front());
    asked_.pop_front();
    if (q.about == question::line) waiting_ = 0;
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
    if (q.about == question::locks)
      for (const std::string& name : lock_names(chroot_, name_, all->names)) ask_for(name, now);
    if (q.about == question::line) waiting_ = static_cast<int>(all->names.size());
    if (q.about == question::leases) read_leases(q, *all, now);
  }
  void read_leases(const question& q, const node_children& all, time_point now) {
    for (const lease_holder& l : holders_of(all.names)) {
      holder h = q.found;
      h.owner = l.owner;
      h.how = lock_mode::permit;
      h.permits = static_cast<std::uint32_t>(l.names.size());
      h.of = l.total;
      h.waiting = waiting_;
      const std::string path = q.path + '/' + std::string(l.names.front());
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
    found.permits = h.permits;
    found.of = h.of;
    found.waiting = h.waiting;
    found_.push_back(std::move(found));
  }
  void report() override {
    std::ranges::stable_sort(found_, {}, &holder::name);
    why.code ? to_.on_failed(std::move(why)) : to_.on_holders(std::move(found_));
  }

  const std::string chroot_, name_;  // name_: or its beginning
  const bool is_one_;
  core::holders_handler& to_;
  std::deque<question> asked_;  // in the order of sending
  int waiting_ = 0;             // in the line that was read last
  std::vector<holder> found_;
};

class break_query final : public node_query {
 public:
  break_query(const query_context& context, const std::string& lock, std::string_view seen,
              core::decision_handler& to)
      : node_query(context), leases_(folder_in(lock, lease_folder)), seen_(seen), to_(to) {}

 private:
  void send_first(time_point now) override { list(leases_, now); }
  void read(std::size_t at, const reply& r, time_point now) override {
    if (r.is(error::no_node)) return;
    if (!r.is_ok()) return fail({errc_of(r.head.code), explain(r.head.code, leases_)});
    if (at > 0) {
      is_done_ = true;
      return;
    }
    const auto all = read_children(r.body);
    if (!all) return fail({errc::unavailable, std::string(malformed_reply)});
    for (const lease_holder& h : holders_of(all->names)) {
      if (h.owner != seen_) continue;
      for (const std::string_view name : h.names)
        send(opcode::remove, delete_body(leases_ + '/' + std::string(name)), now);
    }
  }
  void report() override { why.code ? to_.on_failed(std::move(why)) : to_.on_decided(is_done_); }

  const std::string leases_, seen_;
  core::decision_handler& to_;
  bool is_done_ = false;
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

void start_breaking(const query_context& context, std::string lock, std::string_view seen,
                    core::decision_handler& to) {
  (new break_query(context, lock, seen, to))->start();
}

}  // namespace holdfast::zookeeper::curator_semaphore
