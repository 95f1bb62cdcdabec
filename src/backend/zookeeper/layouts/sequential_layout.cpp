// The side towards the claims.
#include "backend/zookeeper/layouts/sequential_layout.hpp"

#include <utility>
#include <vector>

#include "backend/zookeeper/layouts/held_write.hpp"
#include "backend/zookeeper/layouts/lock_breaking.hpp"
#include "backend/zookeeper/layouts/node_sequence.hpp"
#include "backend/zookeeper/layouts/sequential_queries.hpp"

namespace holdfast::zookeeper {

sequential_layout::sequential_layout(core::environment& env, const settings& s,
                                     std::unique_ptr<const sequential_codec> c)
    : claims_layout(env, s), codec_(std::move(c)) {}

std::unique_ptr<core::claim> sequential_layout::open(std::string_view name,
                                                     core::claim_sink& sink) {
  return std::make_unique<sequential_claim>(*this, name, sink);
}

void sequential_layout::inspect(std::string_view prefix, core::holders_handler& to) {
  start_holders_query(queries(), *codec_, options().chroot, prefix, query_scope::all_that_begin_so,
                      to);
}

void sequential_layout::holders(std::string_view name, core::holders_handler& to) {
  start_holders_query(queries(), *codec_, options().chroot, name, query_scope::one_lock, to);
}

void sequential_layout::break_lock(std::string_view name, std::string_view seen,
                                   core::decision_handler& to) {
  const auto node_of_holder = [this, owner = std::string(seen)](node_names all) {
    std::vector<std::string> out;
    for (const node_in_line& n : codec_->line_of(all))
      if (n.holds && n.name == owner) out.emplace_back(n.name);
    return out;
  };
  start_breaking(queries(), lock_path(options().chroot, name), node_of_holder,
                 options().revocation_timeout, to);
}

void sequential_layout::write(const held_write& w, version_handler& to) {
  std::string node = lock_path(options().chroot, w.lock).append("/").append(w.owner);
  start_held_write(queries(), {std::move(node)}, w, to);
}

void sequential_layout::renew_owner(sequential_claim& c) {
  c.attempt = core::random_uuid(env());
  c.sequence.reset();
  c.ahead.reset();
  c.mode = c.details.mode;
  c.czxid = 0;
  c.makes_parent = c.is_downgrading = false;
}

void sequential_layout::after_step(sequential_claim& c, time_point now) noexcept {
  if (!c.recipe().waits()) c.ahead.reset();
  claims_layout::after_step(c, now);
}

std::string sequential_layout::node_name(const sequential_claim& c, lock_mode mode) const {
  if (!c.sequence) return {};
  return codec_->name_of(c.attempt, mode).append(text_of_sequence(*c.sequence));
}

void sequential_layout::withdraw_orphan(sequential_claim& c, time_point now, event_queue&) {
  if (!c.attempt) return;
  orphan_nodes& all = orphans();
  if (!c.sequence)
    return all.add(removed_by::beginning, c.path, codec_->name_of(c.attempt, c.mode), now);
  all.add(removed_by::name, c.path, node_name(c), now);
  if (c.is_downgrading) all.add(removed_by::name, c.path, node_name(c, lock_mode::shared), now);
}

void sequential_layout::on_claims_watch(const watch_event& e, time_point now, event_queue& events) {
  if (e.kind == event_kind::children)
    return for_each_at(e.path, [&](sequential_claim& c) {
      c.on([](sequential_recipe& r) { return r.on_children(); }, now, events);
    });
  const std::size_t end = e.path.rfind('/');
  if (end == std::string_view::npos) return;
  const std::string_view node = e.path.substr(end + 1);
  const bool has_ended = e.kind == event_kind::deleted;
  const session_deadline& by = over().of_session().deadline();
  for_each_at(e.path.substr(0, end), [&](sequential_claim& c) {
    if (c.ahead && c.ahead->on_event(node, has_ended, c.czxid)) {
      const what_is_ahead left = c.ahead->now();
      c.on([&](sequential_recipe&
                   r) { return r.on_ahead(left, by.deadline(), by.timeout(), now, rules()); },
           now, events);
    } else if (node_name(c) == node) {
      c.on([&](sequential_recipe& r) { return r.on_own_node(has_ended, now, rules()); }, now,
           events);
    }
  });
}

}  // namespace holdfast::zookeeper
