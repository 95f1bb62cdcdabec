#include "backend/zookeeper/layouts/layout_family.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::zookeeper {

using base::event_queue;
using base::failure;

layout_family::layout_family(std::vector<std::unique_ptr<layout>> all, seam::store_family stores)
    : all_(std::move(all)), stores_(std::move(stores)) {
  for (const auto& l : all_) stores_.add(*l);
}

void layout_family::attach(transport& t) {
  for (const auto& l : all_) l->attach(t);
}

void layout_family::detach() noexcept {
  for (const auto& l : all_) l->detach();
}

void layout_family::end_claims(errc code, const std::string& why, time_point now,
                               event_queue& events) {
  for (const auto& l : all_) l->end_claims(code, why, now, events);
}

bool layout_family::is_dispatching() const {
  return std::ranges::any_of(all_, [](const auto& l) { return l->is_dispatching(); });
}

void layout_family::on_attached(bool is_new, time_point now, event_queue& events) {
  for (const auto& l : all_) l->on_attached(is_new, now, events);
}

void layout_family::on_deadline(time_point deadline, event_queue& events) {
  for (const auto& l : all_) l->on_deadline(deadline, events);
}

void layout_family::on_doubtful(event_queue& events) {
  for (const auto& l : all_) l->on_doubtful(events);
}

void layout_family::on_session_lost(const failure& why, event_queue& events) {
  for (const auto& l : all_) l->on_session_lost(why, events);
}

void layout_family::on_watch(const watch_event& e, time_point now, event_queue& events) {
  for (const auto& l : all_) l->on_watch(e, now, events);
}

void layout_family::on_down(const failure& why, time_point now, event_queue& events) {
  for (const auto& l : all_) l->on_down(why, now, events);
}

void layout_family::on_ended(const failure& why, event_queue& events) {
  for (const auto& l : all_) l->on_ended(why, events);
}

void layout_family::on_tick(time_point now, event_queue& events) {
  for (const auto& l : all_) l->on_tick(now, events);
}

}  // namespace holdfast::zookeeper
