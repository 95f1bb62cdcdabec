// holdfast_cycles URL COUNT: locks and unlocks one mutex COUNT times, for count.py.
#include <holdfast/holdfast.hpp>

#include <cstdlib>
#include <exception>
#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::cerr << "usage: holdfast_cycles URL COUNT\n";
    return 64;
  }
  auto client = holdfast::client::open(argv[1]);
  holdfast::mutex lock = client.mutex("cycles");
  for (long left = std::strtol(argv[2], nullptr, 10); left > 0; --left) {
    lock.lock();
    lock.unlock();
  }
  return 0;
} catch (const std::exception& e) {
  std::cerr << "holdfast_cycles: " << e.what() << '\n';
  return 1;
}
