#include "backend/file/naming.hpp"

#include <array>

#include "base/mutant.hpp"
#include "base/percent.hpp"

namespace holdfast::file {
namespace {

constexpr std::string_view hash_mark = "%-";
constexpr std::size_t head_bytes_max = 64;  // of a hashed name, so that a reader recognises it

__extension__ typedef unsigned __int128 u128;

// FNV-1a: Fowler, Noll, Vo, with the constants of draft-eastlake-fnv for 128 bits.
std::array<char, 32> fnv1a_128_hex(std::string_view text) noexcept {
  constexpr u128 prime = (u128{1} << 88) | 0x13b;
  u128 hash = (u128{0x6c62272e07bb0142u} << 64) | 0x62b821756295c58du;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= prime;
  }
  std::array<char, 32> hex;
  for (std::size_t i = hex.size(); i-- > 0; hash >>= 4)
    hex[i] = "0123456789abcdef"[static_cast<unsigned>(hash & 15)];
  return hex;
}

}  // namespace

std::string file_stem(std::string_view lock_name, std::size_t name_max) {
  std::string stem = base::planted(base::mutant::file_name_is_a_path)
                         ? std::string(lock_name)
                         : base::percent_encode(lock_name);
  if (stem.size() + waiters_suffix.size() <= name_max) return stem;
  const auto hex = fnv1a_128_hex(lock_name);
  std::size_t head = head_bytes_max;
  while (head > 0 && (stem[head - 1] == '%' || (head > 1 && stem[head - 2] == '%'))) --head;
  stem.resize(head);
  stem += hash_mark;
  stem.append(hex.data(), hex.size());
  return stem;
}

bool is_hashed(std::string_view file_name) noexcept {
  return file_name.ends_with(lock_suffix) && file_name.find(hash_mark) != file_name.npos;
}

std::optional<std::string> lock_name_of(std::string_view file_name) {
  if (!file_name.ends_with(lock_suffix)) return {};
  const std::string_view stem = file_name.substr(0, file_name.size() - lock_suffix.size());
  auto name = base::percent_decode(stem);
  if (!name || name->empty() || base::percent_encode(*name) != stem) return {};
  return name;
}

}  // namespace holdfast::file
