#include <holdfast/holdfast.hpp>

#include <iostream>
#include <string_view>

holdfast::client open_with_layout(std::string_view text) {
  const auto where = holdfast::url::parse(text).with("layout", "redisson");
  std::cout << "the locks are in " << where.text() << '\n';  // without its password
  return holdfast::client::open(where);
}
