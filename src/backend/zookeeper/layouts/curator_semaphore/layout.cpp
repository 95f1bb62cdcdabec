// The side towards the claims.
#include "backend/zookeeper/layouts/curator_semaphore/layout.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "backend/zookeeper/layouts/curator_semaphore/queries.hpp"
#include "backend/zookeeper/layouts/held_write.hpp"

namespace holdfast::zookeeper::curator_semaphore {

namespace {

constexpr std::uint32_t permits_max = 1000;
constexpr std::size_t leases_bytes_max = 1'000'000;  // by an estimate
static_assert(leases_bytes_max < request_bytes_max);
constexpr std::size_t bytes_beside_texts = 64;  // of one create: its head, lengths, ACL and flags

}  // namespace

const core::capabilities& layout::can() const noexcept { return abilities; }

std::unique_ptr<core::claim> layout::open(std::string_view name, core::claim_sink& sink) {
  return std::make_unique<claim>(*this, name, sink);
}

void layout::inspect(std::string_view prefix, core::holders_handler& to) {
  start_holders_query(queries(), options().chroot, prefix, query_scope::all_that_begin_so, to);
}

void layout::holders(std::string_view name, core::holders_handler& to) {
  start_holders_query(queries(), options().chroot, name, query_scope::one_lock, to);
}

void layout::break_lock(std::string_view name, std::string_view seen, core::decision_handler& to) {
  start_breaking(queries(), lock_path(options().chroot, name), seen, options().revocation_timeout,
                 to);
}

void layout::write(const held_write& w, version_handler& to) {
  std::vector<std::string> nodes;
  {
    const std::lock_guard guard(mutex());
    for_each_at(lock_path(options().chroot, w.lock), [&](const claim& c) {
      if (!c.attempt || owner_text(c.attempt) != w.owner) return;
      for (const std::string& name : c.leases)
        nodes.push_back(folder_of(c, lease_folder) + '/' + name);
    });
  }
  if (nodes.empty())
    return to.on_failed({errc::lost, "the lease was lost, and nothing was written"});
  start_held_write(queries(), nodes, w, to);
}

// All leases of a claim are made in one transaction.
errc layout::refuses(const claim& c, claims::verb v) const {
  if (v != claims::verb::acquire) return {};
  const std::size_t name = folder_of(c, lease_folder).size() + lease_name(c.attempt).size();
  const std::size_t bytes = c.details.permits * (name + data_of(c).size() + bytes_beside_texts);
  const bool fits = c.details.permits <= permits_max && bytes <= leases_bytes_max;
  return fits ? errc{} : errc::unsupported;
}

std::string layout::reason(const claim& c, errc why) const {
  if (why == errc::unsupported)
    return "one claim takes at most " + std::to_string(permits_max) +
           " permits in this layout, fewer where the lock's name or the note is long";
  if (why == errc::mismatch && c.other_total != 0)
    return "the semaphore is in use with " + std::to_string(c.other_total) + " permits, not " +
           std::to_string(c.details.total) + ": give one of them another name";
  return claims_layout::reason(c, why);
}

void layout::renew_owner(claim& c) {
  c.attempt = with_total(core::random_uuid(env()), c.details.total);
  c.leases.clear();
  c.line_node.clear();
  c.blocker.clear();
  c.czxid = 0;
  c.other_total = 0;
  c.is_unanswered = c.makes_parents = c.others_behind = false;
}

void layout::withdraw_orphan(claim& c, time_point now, event_queue&) {
  if (!c.attempt) return;
  orphan_nodes& all = orphans();
  const std::string leases = folder_of(c, lease_folder), line = folder_of(c, line_folder);
  if (c.is_unanswered) {
    all.add(removed_by::beginning, leases, lease_name(c.attempt), now);
    all.add(removed_by::beginning, line, line_name(c.attempt), now);
    return;
  }
  for (const std::string& name : c.leases) all.add(removed_by::name, leases, name, now);
  if (!c.line_node.empty()) all.add(removed_by::name, line, c.line_node, now);
}

void layout::leave_line(claim& c, time_point now) {
  if (c.line_node.empty()) return;
  orphans().add(removed_by::name, folder_of(c, line_folder), std::exchange(c.line_node, {}), now);
}

// A watch on a folder or on a node in it; the removal of a folder is an event of its watchers.
void layout::on_claims_watch(const watch_event& e, time_point now, event_queue& events) {
  const std::size_t end = e.path.rfind('/');
  if (end == std::string_view::npos) return;
  const std::string_view lock = e.path.substr(0, end), folder = e.path.substr(end + 1);
  if (folder == lease_folder) {
    for_each_at(lock, [&](claim& c) {
      c.on([&](permit_recipe& r) { return r.on_leases(rules()); }, now, events);
    });
  } else if (folder == line_folder) {
    for_each_at(lock,
                [&](claim& c) { c.on([](permit_recipe& r) { return r.on_line(); }, now, events); });
  } else {
    on_node_watch(e.path, e.kind == event_kind::deleted, now, events);
  }
}

void layout::on_node_watch(std::string_view path, bool has_ended, time_point now,
                           event_queue& events) {
  const std::string_view node = last_part(path);
  const std::string_view folder = path.substr(0, path.size() - node.size() - 1);
  const std::size_t end = folder.rfind('/');
  if (end == std::string_view::npos) return;
  for_each_at(folder.substr(0, end), [&](claim& c) {
    if (last_part(folder) == line_folder && c.blocker == node) {
      c.on([&](permit_recipe& r) { return r.on_blocker(rules()); }, now, events);
    } else if (std::ranges::find(c.leases, node) != c.leases.end()) {
      c.on([&](permit_recipe& r) { return r.on_own_lease(has_ended); }, now, events);
    }
  });
}

}  // namespace holdfast::zookeeper::curator_semaphore
