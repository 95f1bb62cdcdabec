// Names under which several layouts have left keys: locks that do not exclude each other. Pure.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace holdfast::redis {

// By what stands beside the keys of the locks themselves, which do not always tell their layout.
class mixed_layouts {
 public:
  void add(std::string_view key);
  // "x (string, redisson-permits)", one for each such name, in their order.
  std::set<std::string> several() const;

 private:
  std::map<std::string, std::set<std::string_view>, std::less<>> layouts_of_;
};

}  // namespace holdfast::redis
