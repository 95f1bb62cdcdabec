#include <holdfast/holdfast.hpp>

#include <chrono>
#include <iostream>

void print_holders(const holdfast::client& client, std::string_view name) {
  for (const holdfast::holder& one : client.holders(name)) {
    std::cout << one.host << ':' << one.pid << " (" << one.note << ')';
    if (one.expires_in != std::chrono::milliseconds::max())
      std::cout << ", for another " << one.expires_in.count() << " ms";
    std::cout << '\n';
  }
}
