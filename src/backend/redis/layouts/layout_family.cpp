#include "backend/redis/layouts/layout_family.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {

using base::event_queue;

layout_family::layout_family(std::vector<std::unique_ptr<layout>> all, seam::store_family stores)
    : all_(std::move(all)), stores_(std::move(stores)) {
  for (const auto& l : all_) stores_.add(*l);
}

std::vector<layout_needs> layout_family::needs() const {
  std::vector<layout_needs> out;
  for (const auto& l : all_) out.push_back(l->needs());
  return out;
}

void layout_family::attach(topology& t) {
  for (const auto& l : all_) l->attach(t);
  t.observe(*this);
}

void layout_family::on_new_node(transport& t) {
  for (const auto& l : all_) l->add_node(t);
}

void layout_family::on_keys_moved(time_point now, event_queue& events) {
  for (const auto& l : all_) l->on_keys_moved(now, events);
}

bool layout_family::is_settled() const noexcept {
  return std::ranges::all_of(all_, [](const auto& l) { return l->is_settled(); });
}

bool layout_family::is_dispatching() const {
  return std::ranges::any_of(all_, [](const auto& l) { return l->is_dispatching(); });
}

}  // namespace holdfast::redis
