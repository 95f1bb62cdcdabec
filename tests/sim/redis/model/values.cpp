#include "tests/sim/redis/model/values.hpp"

#include <algorithm>
#include <tuple>

namespace holdfast::sim {

const sorted_set::element* sorted_set::find(std::string_view member) const {
  const auto found = std::find_if(elements_.begin(), elements_.end(),
                                  [&](const element& e) { return e.member == member; });
  return found == elements_.end() ? nullptr : &*found;
}

void sorted_set::put(std::string_view member, double score) {
  std::string kept(member);
  erase(kept);
  score += 0.0;  // no negative zero
  const auto place =
      std::partition_point(elements_.begin(), elements_.end(), [&](const element& e) {
        return std::tie(e.score, e.member) < std::tie(score, kept);
      });
  elements_.insert(place, {score, std::move(kept)});
}

bool sorted_set::erase(std::string_view member) {
  const element* const found = find(member);
  if (found) elements_.erase(elements_.begin() + (found - elements_.data()));
  return found != nullptr;
}

void sorted_set::erase_first(std::size_t count) {
  elements_.erase(elements_.begin(), elements_.begin() + static_cast<std::ptrdiff_t>(count));
}

const std::string* hash::find(std::string_view name) const {
  for (const auto& [n, v] : fields_)
    if (n == name) return &v;
  return nullptr;
}

bool hash::put(std::string_view name, std::string_view value) {
  for (auto& [n, v] : fields_)
    if (n == name) {
      v = value;
      return false;
    }
  fields_.emplace_back(name, value);
  return true;
}

bool hash::erase(std::string_view name) {
  const auto found =
      std::find_if(fields_.begin(), fields_.end(), [&](const field& f) { return f.first == name; });
  if (found == fields_.end()) return false;
  fields_.erase(found);
  return true;
}

}  // namespace holdfast::sim
