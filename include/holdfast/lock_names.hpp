// The names of several locks, as client::acquire_all() takes them.
#pragma once
#include <holdfast/fwd.hpp>

#include <concepts>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// A list of names that converts implicitly from {"a", "b"} and from any range whose elements
// convert to std::string_view: a vector of strings, a set, a view. The names are copied.
//
// The names are not checked here: the verb that takes the list reports errc::bad_name.
class lock_names {
 public:
  lock_names() = default;

  // No std::initializer_list: GCC 12 cannot have one inside a co_await expression.
  template <class... Name>
  requires(sizeof...(Name) > 0 && (std::convertible_to<Name, std::string_view> && ...))
      lock_names(Name&&... name) {
    all_.reserve(sizeof...(name));
    (all_.emplace_back(std::string_view(name)), ...);
  }

  // Copies the names of a range.
  template <std::ranges::input_range Range>
  requires(!std::same_as<std::remove_cvref_t<Range>, lock_names> &&
           !std::convertible_to<Range, std::string_view> &&
           std::convertible_to<std::ranges::range_reference_t<Range>, std::string_view>)
      lock_names(Range&& all) {
    for (auto&& name : all) all_.emplace_back(std::string_view(name));
  }

  // The names, in their order.
  auto begin() const noexcept { return all_.begin(); }
  auto end() const noexcept { return all_.end(); }

 private:
  std::vector<std::string> all_;
};

}  // namespace v0
}  // namespace holdfast
