// Faults on purpose, built as the tests of a sanitizer are: it must report the one that is named.
#include <climits>
#include <memory>
#include <string_view>
#include <thread>

namespace {

volatile int number = INT_MAX;

int read_after_free() {
  auto owner = std::make_unique<int>(number);
  const volatile int* const left = owner.get();
  owner.reset();
  return *left;
}

int overflow() { return number + 1; }

int race() {
  std::jthread one([] { number = 1; }), other([] { number = 2; });
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view fault = argc > 1 ? argv[1] : "";
  if (fault == "read_after_free") return read_after_free();
  if (fault == "overflow") return overflow();
  if (fault == "race") return race();
  return 64;
}
