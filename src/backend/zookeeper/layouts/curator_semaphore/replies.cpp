// Reads the replies to the requests of a claim.
#include <algorithm>
#include <utility>

#include "backend/zookeeper/layouts/curator_semaphore/layout.hpp"
#include "backend/zookeeper/layouts/node_sequence.hpp"
#include "base/mutant.hpp"

namespace holdfast::zookeeper::curator_semaphore {

using core::mutant;
using core::planted;
using verdict = permit_verdict;

void batch::on_begin(const claim& c) {
  parts_.clear();
  was_there_ = false;
  result.is_there = c.is_unanswered || !c.leases.empty() || !c.line_node.empty();
}

void batch::read(unsigned at, const reply& r, const reply_context& context) {
  switch (parts_.at(at)) {
    case part::parent: return read_parent(at, r);
    case part::sync:
      if (!r.is_ok() && !r.is(error::no_node)) fail(r);
      return;
    case part::make_leases:
    case part::enter_line: return read_made(r);
    case part::list_leases: return read_leases(r, context);
    case part::own_lease: return read_own_lease(r);
    case part::look_at_line: return read_look(r);
    case part::list_line: return read_line(r, context);
    case part::watch_blocker: return read_blocker(r, context);
    case part::watch_lease: return read_watched(r);
    case part::check_waiters: return read_peek(r, context);
    case part::await_line:
      if (const claim* const c = owner(); c && r.is_ok())
        return home_.check_waiters(*this, *c, context.now);
      return;
    case part::find_leases: return read_found(r, lease_folder, lease_name(attempt_), context);
    case part::find_line: return read_found(r, line_folder, line_name(attempt_), context);
    case part::remove: return read_removed(r);
  }
}

// The first one is the lock's, below the chroot. The server removes what is empty, so that may be
// gone again before its folder is made: the create in that folder tells.
void batch::read_parent(unsigned at, const reply& r) {
  const bool is_gone_again = at > 0 && r.is(error::no_node);
  if (r.is_ok() || r.is(error::node_exists) || is_gone_again) return;
  const claim* const c = owner();
  if (!c) return fail(r);
  const bool is_of_line = what() == permit_operation::join;
  fail_to_create(r, at == 0 ? c->path : folder_of(*c, is_of_line ? line_folder : lease_folder));
}

// One create, or the creates of a transaction, whose header says `ok` in any case.
void batch::read_made(const reply& r) {
  claim* const c = owner();
  if (c) c->is_unanswered = false;
  const bool is_of_line = what() == permit_operation::join;
  const bool is_multi = r.is_ok() && c && !is_of_line && c->details.permits > 1;
  const auto all = is_multi ? read_multi(r.body) : std::nullopt;
  const error code = all ? all->code : r.head.code;
  if (code == error::no_node) {
    if (c) c->makes_parents = true;
    return conclude(verdict::no_parent);
  }
  if (code != error::ok) return fail(errc_of(code), explain(code, c ? c->path : std::string()));
  result.is_there = true;
  const auto one = is_multi ? std::nullopt : read_created(r.body);
  if (!all && !one) {
    if (c) c->is_unanswered = true;
    return fail_malformed();
  }
  if (!c) return;
  if (is_of_line) {
    c->line_node = last_part(one->path);
    if (!is_in_order(read_sequence(c->line_node, line_name(attempt_)))) fail_exhausted();
    return;
  }
  if (one) c->leases.emplace_back(last_part(one->path));
  if (all)
    for (const std::string_view path : all->created) c->leases.emplace_back(last_part(path));
  take_number(r.head.zxid);
  if (!are_in_order(c->leases)) fail_exhausted();
}

bool batch::are_in_order(const std::vector<std::string>& leases) const {
  const std::string begin = lease_name(attempt_);
  return std::ranges::all_of(leases, [&](const std::string& name) {
    return is_in_order(read_sequence(name, begin));
  });
}

void batch::read_leases(const reply& r, const reply_context& context) {
  claim* const c = owner();
  if (r.is(error::no_node)) {
    result.what = verdict::none;
    return;
  }
  if (!r.is_ok()) return fail(r);
  const auto all = read_children(r.body);
  if (!all) return fail_malformed();
  if (!c) return;
  own_leases mine = curator_semaphore::read_leases(all->names, attempt_, c->details.total);
  if (mine.other_total != 0) {
    c->other_total = mine.other_total;
    return fail(errc::mismatch, {});
  }
  const bool was_known = !c->leases.empty();
  result.others_wait = c->others_behind;
  result.what = mine.names.empty() && !was_known          ? verdict::none
                : mine.names.size() != c->details.permits ? verdict::gone
                : mine.hold                               ? verdict::granted
                                                          : verdict::full;
  if (was_known || mine.names.empty()) return;
  // Their create was never answered: their number is not known yet.
  c->leases = std::move(mine.names);
  c->is_unanswered = false;
  result.is_there = true;
  if (!are_in_order(c->leases)) return fail_exhausted();
  const std::string path = folder_of(*c, lease_folder) + '/' + c->leases.back();
  home_.ask(*this, part::own_lease, opcode::exists, watched_path_body(path, false), context.now);
}

void batch::read_own_lease(const reply& r) {
  const auto stat = r.is_ok() ? read_stat(r.body) : std::nullopt;
  if (stat && stat->ephemeral_owner == home_.over().of_session().id())
    return take_number(stat->czxid);
  if (!r.is_ok() && !r.is(error::no_node)) return fail(r);
  result.what = verdict::gone;
}

// Waiters come first.
void batch::read_look(const reply& r) {
  const auto line = r.is_ok() ? read_stat(r.body) : std::nullopt;
  if (!r.is_ok() && !r.is(error::no_node)) return fail(r);
  if (line && line->children > 0 && result.what == verdict::granted) result.what = verdict::full;
}

void batch::read_line(const reply& r, const reply_context& context) {
  claim* const c = owner();
  result.what = verdict::gone;
  if (r.is(error::no_node)) return;
  if (!r.is_ok()) return fail(r);
  const auto all = read_children(r.body);
  if (!all) return fail_malformed();
  const place_in_queue mine = curator_semaphore::read_line(all->names, attempt_);
  if (!c || !mine.is_there) return;
  c->line_node = mine.own;
  c->blocker = mine.blocker;
  c->others_behind = mine.others_behind;
  c->is_unanswered = false;
  result.is_there = true;
  const bool has_place = is_in_order(read_sequence(c->line_node, line_name(attempt_)));
  if (!has_place || mine.has_wrapped) return fail_exhausted();
  result.what = mine.blocker.empty() ? verdict::first : verdict::behind;
  if (mine.blocker.empty()) return;
  home_.watch(*this, part::watch_blocker, folder_of(*c, line_folder) + '/' + c->blocker,
              context.now);
}

void batch::read_blocker(const reply& r, const reply_context& context) {
  const claim* const c = owner();
  if (r.is(error::no_node) && c) return home_.list_line(*this, *c, context.now);
  if (!r.is_ok()) fail(r);
}

void batch::read_watched(const reply& r) {
  if (r.is(error::no_node)) return conclude(verdict::gone);
  if (!r.is_ok()) return fail(r);
  const auto node = read_data(r.body);
  if (!node) return fail_malformed();
  result.what = verdict::watched;
  const bool is_asked = node->data == revocation_data && !planted(mutant::revocation_unread);
  result.is_revoked = result.is_revoked || is_asked;
}

void batch::read_peek(const reply& r, const reply_context& context) {
  const claim* const c = owner();
  if (r.is(error::no_node) && c) return home_.await_line(*this, *c, context.now);
  const auto all = r.is_ok() ? read_children(r.body) : std::nullopt;
  if (!all) return;
  result.what = verdict::watched;
  result.others_wait = !all->names.empty();
}

void batch::read_found(const reply& r, std::string_view folder, const std::string& begin,
                       const reply_context& context) {
  const claim* const c = owner();
  if (!r.is_ok() && !r.is(error::no_node)) return fail(r);
  const auto all = r.is_ok() ? read_children(r.body) : std::nullopt;
  if (!was_there_) result.what = verdict::gone;
  if (!all || !c) return;
  for (const std::string_view name : all->names)
    if (name.starts_with(begin))
      home_.remove_node(*this, folder_of(*c, folder).append("/").append(name), context.now);
}

void batch::read_removed(const reply& r) {
  if (!r.is_ok() && !r.is(error::no_node)) return fail(r);
  was_there_ = was_there_ || r.is_ok();
  result.what = was_there_ ? verdict::done : verdict::gone;
}

}  // namespace holdfast::zookeeper::curator_semaphore
