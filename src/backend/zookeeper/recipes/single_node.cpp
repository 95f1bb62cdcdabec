#include "backend/zookeeper/recipes/single_node.hpp"

namespace holdfast::zookeeper {

single_node_recipe::step single_node_recipe::acquire(const seam::acquire_request& request,
                                                     time_point now, const timing& t) noexcept {
  begin_wait(request, now);
  state_ = state::creating;
  return begin(operation::create, t);
}

single_node_recipe::step single_node_recipe::cancel(time_point now, const timing& t) noexcept {
  const bool has_nothing = is_acquiring() && state_ == state::waiting;
  return has_nothing ? become_idle(claim_event::ended, {}) : session_recipe::cancel(now, t);
}

single_node_recipe::step single_node_recipe::turn_to(state next, const timing& t) noexcept {
  state_ = next;
  return ask(next == state::resolving ? operation::find : operation::create, t);
}

single_node_recipe::step single_node_recipe::on(const reply& r, time_point now,
                                                const timing& t) noexcept {
  if (is_late(r)) return {};
  switch (phase_) {
    case phase::acquiring: return on_acquire_reply(r, now, t);
    case phase::held:
      if (r.what == verdict::busy || r.what == verdict::gone) return become_lost(errc::not_held);
      return {};
    case phase::leaving: return on_removed(r, now, t);
    case phase::idle:
    case phase::lost: break;
  }
  return {};
}

single_node_recipe::step single_node_recipe::on_acquire_reply(const reply& r, time_point now,
                                                              const timing& t) noexcept {
  switch (r.what) {
    case verdict::granted: return become_held(r, now);
    case verdict::busy:
      if (one_attempt_) return become_idle(claim_event::refused, errc::timed_out);
      state_ = state::waiting;
      return {};
    case verdict::gone: return turn_to(state::creating, t);
    case verdict::failed:
      if (r.is_there) return give_up(r.why);
      return become_idle(claim_event::refused, r.why);
    default: return {};
  }
}

single_node_recipe::step single_node_recipe::on_cut(operation op, std::uint32_t epoch, time_point,
                                                    const timing& t) noexcept {
  if (epoch != epoch_) return {};
  if (is_leaving()) return remove_again();
  if (is_acquiring() && state_ != state::waiting) return turn_to(state::resolving, t);
  return is_held() ? step{.send = op} : step{};
}

single_node_recipe::step single_node_recipe::on_node(bool has_ended, time_point,
                                                     const timing& t) noexcept {
  if (is_acquiring() && state_ == state::waiting) return turn_to(state::creating, t);
  if (!is_held()) return {};
  if (has_ended) return become_lost(errc::not_held);
  return {.send = operation::find};
}

single_node_recipe::step single_node_recipe::on_session_lost(time_point, const timing& t) noexcept {
  if (!is_acquiring()) return end_with_session();
  state_ = state::creating;
  return begin(operation::create, t);
}

}  // namespace holdfast::zookeeper
