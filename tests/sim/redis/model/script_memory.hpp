// The memory of one Lua state: blocks of a few sizes, which are used again at once.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace holdfast::sim {

// Lua makes and frees small blocks all the time, and says how large a freed block is.
class script_memory {
 public:
  // As lua_Alloc; `self` is a script_memory.
  static void* allocate(void* self, void* block, std::size_t had, std::size_t wanted);

 private:
  struct unused {
    unused* next;
  };
  static constexpr std::size_t step = 16, small_max = 512, chunk = 64 * 1024;

  void* take(std::size_t size);
  void give_back(void* block, std::size_t size) noexcept;

  std::array<unused*, small_max / step> unused_{};  // by size
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::size_t left_ = 0;  // of the last chunk
};

}  // namespace holdfast::sim
