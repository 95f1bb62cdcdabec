// Lists of commands drawn from a seed, for comparing the model of Redis with the real one.
#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sim {

using command_words = std::vector<std::string>;

// Mostly sound commands on few keys; the rest has wrong types, options, numbers, names and counts.
// Answers depend on no clock but for those of PTTL and TTL outside of a MULTI, and keep their order
// but for those of SCAN. Whatever a list switches, it switches back.
class random_commands {
 public:
  explicit random_commands(std::uint64_t seed) : numbers_(seed) {}

  std::vector<command_words> list();        // of 5 to 20 and some
  std::vector<command_words> subscriber();  // for another connection, before the list

 private:
  bool chance(int percent) { return below(100) < percent; }
  int below(int n) { return static_cast<int>(numbers_() % static_cast<std::uint64_t>(n)); }
  template <class... Choices>
  std::string any(Choices... choices) {
    const std::string_view all[] = {choices...};
    return std::string(all[below(sizeof...(choices))]);
  }
  std::string key(std::string_view usual);
  std::string number();
  std::string word();
  std::string score();

  command_words simple();
  command_words of_strings();
  command_words of_keys();
  command_words of_sets();
  command_words of_hashes();
  command_words of_lists();
  command_words of_server();
  command_words nonsense();
  command_words script();
  std::string script_line();
  std::string script_call();
  void add_group(std::vector<command_words>&);

  std::mt19937_64 numbers_;
  std::string last_script_ = "return 1";
};

}  // namespace holdfast::sim
