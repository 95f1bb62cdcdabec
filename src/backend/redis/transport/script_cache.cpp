#include "backend/redis/transport/script_cache.hpp"

#include <algorithm>

namespace holdfast::redis {

void script_cache::on_missing(std::uint16_t place) {
  if (place >= all_.size() || std::ranges::find(missing_, place) != missing_.end()) return;
  missing_.push_back(place);
}

}  // namespace holdfast::redis
