// One finding of client::diagnose().
#pragma once
#include <holdfast/detail/export.hpp>

#include <string>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// How a finding bears on locks.
enum class finding_grade : unsigned char {
  good,  // nothing to be done
  warn,  // a rare event may break a promise, or the answer is not known
  bad,   // locks fail, or an ordinary event breaks a promise
};

// One aspect of a lock store, and how it bears on locks. client::diagnose() returns them.
struct finding {
  std::string what;  // the aspect, one word that programs may compare: "eviction", "clock" ...
  finding_grade grade = finding_grade::good;
  std::string why;     // what was seen and what follows; "not known: ..." where it cannot be read
  std::string remedy;  // what to do; empty: nothing
};

}  // namespace v0
}  // namespace holdfast
