#include <holdfast/holdfast.hpp>

#include <iostream>

bool is_fit_for_locks(const holdfast::client& client) {
  bool is_fit = true;
  for (const holdfast::finding& one : client.diagnose()) {
    if (one.grade == holdfast::finding_grade::good) continue;
    std::cout << one.what << ": " << one.why << "; " << one.remedy << '\n';
    is_fit = is_fit && one.grade != holdfast::finding_grade::bad;
  }
  return is_fit;
}
