#include "backend/zookeeper/layouts/curator_semaphore/queries.hpp"

#include <vector>

#include "backend/zookeeper/layouts/curator_semaphore/codec.hpp"
#include "backend/zookeeper/layouts/lock_breaking.hpp"

namespace holdfast::zookeeper::curator_semaphore {

namespace {

std::string folder_in(const std::string& lock, std::string_view folder) {
  return lock + '/' + std::string(folder);
}

// Reads the queue and the leases of each lock, and the data in the first lease of each holder.
class permits_query final : public holders_query {
 public:
  using holders_query::holders_query;

 private:
  enum kind : unsigned { queue, leases };

  void ask_about(const std::string& name, time_point now) override {
    const std::string lock = lock_path(chroot(), name);
    ask_list(folder_in(lock, queue_folder), {}, now, queue);
    ask_list(folder_in(lock, lease_folder), {.name = name, .mode = lock_mode::permit}, now, leases);
  }
  void read_list(question q, const node_children* all, time_point now) override {
    if (q.kind == queue) {
      waiting_ = all ? static_cast<int>(all->names.size()) : 0;
      return;
    }
    if (!all) return;
    for (const lease_holder& l : holders_of(all->names)) {
      holder h = q.found;
      h.owner = l.owner;
      h.permits = static_cast<std::uint32_t>(l.names.size());
      h.total_permits = l.total;
      h.waiting = waiting_;
      ask_node(q.path + '/' + std::string(l.names.front()), std::move(h), now);
    }
  }

  int waiting_ = 0;  // in the queue that was read last
};

}  // namespace

void start_holders_query(const query_context& context, const std::string& chroot,
                         std::string_view name, query_scope scope, seam::holders_handler& to) {
  (new permits_query(context, chroot, name, scope, to))->start();
}

void start_breaking(const query_context& context, const std::string& lock, std::string_view seen,
                    base::duration revocation, seam::decision_handler& to) {
  const auto leases_of_holder = [owner = std::string(seen)](node_names all) {
    std::vector<std::string> out;
    for (const lease_holder& h : holders_of(all))
      if (h.owner == owner) out.assign(h.names.begin(), h.names.end());
    return out;
  };
  zookeeper::start_breaking(context, folder_in(lock, lease_folder), leases_of_holder, revocation,
                            to);
}

}  // namespace holdfast::zookeeper::curator_semaphore
