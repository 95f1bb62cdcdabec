#include "backend/zookeeper/layouts/curator_semaphore/queries.hpp"

#include "backend/zookeeper/layouts/curator_semaphore/codec.hpp"

namespace holdfast::zookeeper::curator_semaphore {

namespace {

std::string folder_in(const std::string& lock, std::string_view folder) {
  return lock + '/' + std::string(folder);
}

// The line and the leases of each lock; what stands in the first lease of each holder.
class permits_query final : public holders_query {
 public:
  using holders_query::holders_query;

 private:
  enum kind : unsigned { line, leases };

  void ask_about(const std::string& name, time_point now) override {
    const std::string lock = lock_path(chroot(), name);
    holder h;
    h.name = name;
    h.how = lock_mode::permit;
    ask_list(folder_in(lock, line_folder), {}, now, line);
    ask_list(folder_in(lock, lease_folder), std::move(h), now, leases);
  }
  void read_list(question q, const node_children* all, time_point now) override {
    if (q.kind == line) {
      waiting_ = all ? static_cast<int>(all->names.size()) : 0;
      return;
    }
    if (!all) return;
    for (const lease_holder& l : holders_of(all->names)) {
      holder h = q.found;
      h.owner = l.owner;
      h.permits = static_cast<std::uint32_t>(l.names.size());
      h.of = l.total;
      h.waiting = waiting_;
      ask_node(q.path + '/' + std::string(l.names.front()), std::move(h), now);
    }
  }

  int waiting_ = 0;  // in the line that was read last
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

void start_holders_query(const query_context& context, const std::string& chroot,
                         std::string_view name, query_scope scope, core::holders_handler& to) {
  (new permits_query(context, chroot, name, scope, to))->start();
}

void start_breaking(const query_context& context, std::string lock, std::string_view seen,
                    core::decision_handler& to) {
  (new break_query(context, lock, seen, to))->start();
}

}  // namespace holdfast::zookeeper::curator_semaphore
