#include "backend/redis/shards/sharded_store.hpp"

#include <algorithm>

#include "seam/store_family.hpp"

namespace holdfast::redis {

bool sharded_store::can_lock_all(std::span<const std::string_view> names) const {
  const lock_store& first = of(names.front());
  const auto is_there = [&](std::string_view name) { return &of(name) == &first; };
  return std::ranges::all_of(names, is_there) && first.can_lock_all(names);
}

void sharded_store::inspect(std::string_view prefix, seam::holders_handler& to) {
  seam::store_family all;
  for (lock_store* const s : stores_) all.add(*s);
  all.inspect(prefix, to);
}

void* sharded_store::find_extension(const std::type_info& wanted) noexcept {
  if (!stores_.front()->find<guarded_values>()) return nullptr;
  return offer<guarded_values>(*this, wanted);
}

void sharded_store::write(const guarded_write& w, seam::decision_handler& to) {
  of(w.key).find<guarded_values>()->write(w, to);
}

}  // namespace holdfast::redis
