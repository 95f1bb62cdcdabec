// The result of one row.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "verdict.hpp"

namespace bench {

struct peer_result {
  std::string name;
  double figure = 0;
  std::string skipped{};  // why there is no figure
};

struct contest_result {
  std::string label;
  spread figure{};                                       // what the bar is about
  double limit = 0, holdfast = 0;                        // medians of the sides' own figures
  std::vector<std::pair<std::string, double>> beside{};  // medians of holdfast's side
  std::vector<peer_result> peers{};
  std::string skipped{};
};

struct row_result {
  std::string name;
  std::string verdict;   // "met", "missed", "skipped", "failed"
  std::string reason{};  // in words, unless the bar was met
  spread figure{};       // of the contest that is worst
  double side_seconds = 0;
  double others_cpu = 0;  // the part of the machine that other programs used, 0 to 1
  std::vector<contest_result> contests{};
};

}  // namespace bench
