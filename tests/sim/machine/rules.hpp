// The rules that schedules are judged by, by name. What each asserts: judge/judge.hpp.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace holdfast::sim {

enum class rule : std::uint8_t {
  one,
  told,
  once,
  lost,
  tokens,
  twice,
  lease,
  owner,
  turns,
  free,
  stalled,
  ghost,
  kept,
  notes,
  attempt,
  bound,
  given_up,
  shown,
  guarded,
  broken,
  old,
  dead,
  passed,
  together,
  group,
  spin,
  quorum,
  served,
  rest,
  warned,
  left,
};
inline constexpr int rules = static_cast<int>(rule::left) + 1;
std::string_view name_of(rule) noexcept;

class rule_set {
 public:
  rule_set() = default;
  rule_set(std::initializer_list<rule> all) noexcept {
    for (const rule r : all) add(r);
  }
  void add(rule r) noexcept { bits_ |= bit(r); }
  void add(const rule_set& more) noexcept { bits_ |= more.bits_; }
  void remove(const rule_set& some) noexcept { bits_ &= ~some.bits_; }
  bool contains(rule r) const noexcept { return (bits_ & bit(r)) != 0; }
  bool empty() const noexcept { return bits_ == 0; }
  std::string text() const;  // "one, told"
  bool operator==(const rule_set&) const = default;

 private:
  static std::uint32_t bit(rule r) noexcept { return std::uint32_t{1} << static_cast<int>(r); }
  static_assert(rules <= 32);
  std::uint32_t bits_ = 0;
};

}  // namespace holdfast::sim
