#include <holdfast/holdfast.hpp>

#include <iostream>

int list_locks() {
  try {
    const auto client = holdfast::client::open("redis://localhost?op-timeout=2s");
    for (const holdfast::holder& one : client.list("shop/"))
      std::cout << one.name << " is held by pid " << one.pid << " on " << one.host << '\n';
    return client.is_held("shop/stock") ? 0 : 1;
  } catch (const holdfast::lock_error& e) {
    std::cerr << e.what() << '\n';
    return 69;
  }
}
