#include "tests/sim/redis/model/script_memory.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace holdfast::sim {

void* script_memory::take(std::size_t size) {
  if (size > small_max) return ::operator new(size);
  unused*& first = unused_[(size - 1) / step];
  if (first) return std::exchange(first, first->next);
  const std::size_t whole = (size + step - 1) / step * step;
  if (left_ < whole) {
    chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(chunk));
    left_ = chunk;
  }
  return chunks_.back().get() + chunk - std::exchange(left_, left_ - whole);
}

void script_memory::give_back(void* block, std::size_t size) noexcept {
  if (size > small_max) return ::operator delete(block);
  unused*& first = unused_[(size - 1) / step];
  first = new (block) unused{first};
}

void* script_memory::allocate(void* self, void* block, std::size_t had, std::size_t wanted) {
  auto& memory = *static_cast<script_memory*>(self);
  void* const made = wanted > 0 ? memory.take(wanted) : nullptr;
  if (made && block) std::memcpy(made, block, std::min(had, wanted));
  if (block) memory.give_back(block, had);
  return made;
}

}  // namespace holdfast::sim
