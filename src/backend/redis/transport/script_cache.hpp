// Calls a script by its hash, which the server knows once it has the text, or by its text.
// Where the right to load scripts is lacking, or a server has lost them, a call by text teaches it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace holdfast::redis {

struct script {
  std::string_view text;
  std::string_view sha1;  // 40 hexadecimal digits
  std::string_view name;  // "string/release"
};

// The scripts of all layouts, in one array, from layouts/*/scripts/*.lua (cmake/redis.cmake).
std::span<const script> every_script() noexcept;

enum class script_form : unsigned char { by_hash, by_text };

// The cache of one server. Pure.
class script_cache {
 public:
  static constexpr std::uint16_t none = 0xffff;

  explicit script_cache(std::span<const script> all) noexcept : all_(all) {}
  // The place of a script, which is one of `all`.
  std::uint16_t place_of(const script& s) const noexcept {
    return static_cast<std::uint16_t>(&s - all_.data());
  }
  // The form of the next call, which is going to be sent.
  script_form take_form(const script& s) noexcept {
    if (missing_.empty()) return script_form::by_hash;
    return std::erase(missing_, place_of(s)) > 0 ? script_form::by_text : script_form::by_hash;
  }
  // A call was not executed: the server does not know the hash. Exactly one call then goes by text.
  void on_missing(std::uint16_t place) {
    if (place >= all_.size() || std::ranges::find(missing_, place) != missing_.end()) return;
    missing_.push_back(place);
  }

 private:
  std::span<const script> all_;
  std::vector<std::uint16_t> missing_;  // each once
};

}  // namespace holdfast::redis
