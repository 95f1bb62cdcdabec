// What a user of the installed library writes.
#include <holdfast/holdfast.hpp>

#include <iostream>

int main() {
  const auto where = holdfast::url::parse("file:///var/lib/locks?op-timeout=2s");
  std::cout << "holdfast " << HOLDFAST_VERSION << " " << where.text() << "\n";
  return where.scheme() == "file" ? 0 : 1;
}
