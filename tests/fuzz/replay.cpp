// Runs a fuzz target without libFuzzer: on each seed file, on all its beginnings, and on so many
// changed copies of it, the same ones in each run.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

long inputs = 0;

void run(const std::string& input) {
  ++inputs;
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

std::string changed(std::string input, std::minstd_rand& draw) {
  static constexpr std::string_view telling = "/:@?&=%,[].\\\0\x7f\x80\xc3\xff ~-#";
  for (auto changes = 1 + draw() % 4; changes > 0; --changes) {
    const auto at = draw() % (input.size() + 1);
    const char put = draw() % 2 ? telling[draw() % telling.size()] : static_cast<char>(draw());
    switch (draw() % 3) {
      case 0: input.insert(at, 1 + draw() % 3, put); break;
      case 1: input.erase(at, 1 + draw() % 4); break;
      default: input.replace(at, 1, 1, put); break;
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 64;
  std::minstd_rand draw;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string seed(std::istreambuf_iterator<char>(file), {});
    for (std::size_t length = 0; length <= seed.size(); ++length) run(seed.substr(0, length));
    for (int i = std::atoi(argv[2]); i > 0; --i) run(changed(seed, draw));
  }
  std::cout << inputs << " inputs\n";
  return inputs > 0 ? 0 : 1;
}
