// The requests in what a client writes: where they can be cut, and how they are shown.
#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace holdfast::sim {

// Where to cut `bytes` in two: before the text of one argument. `share`, from 0 to below 1, picks
// it among all of them; their lengths do not matter. 0: there is no argument.
std::size_t cut_at(std::string_view bytes, double share);

// The requests of one schedule, as text. Scripts are shown by a number, which counts them by their
// first use: a change of their texts that changes nothing else does not show.
class request_texts {
 public:
  // One line, which shows all bytes but those of scripts.
  std::string show(std::string_view bytes);

 private:
  int number_of(std::string_view sha);

  std::map<std::string, int, std::less<>> numbers_;
};

}  // namespace holdfast::sim
