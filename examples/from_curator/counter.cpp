// Adds one to the number in a file, TIMES times, under a lock that Java programs take by Curator.
//
//   counter zookeeper://HOST:PORT FILE TIMES
#include <holdfast/holdfast.hpp>

#include <cstdio>
#include <exception>
#include <fstream>
#include <mutex>
#include <string>

int main(int argc, char** argv) try {
  if (argc != 4) return 64;
  const auto client = holdfast::client::open(argv[1]);
  auto lock = client.mutex("orders");
  for (int left = std::stoi(argv[3]); left > 0; --left) {
    const std::lock_guard guard(lock);  // held while the session lives
    long number = 0;
    std::ifstream(argv[2]) >> number;
    std::ofstream(argv[2]) << number + 1;
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
