// Where a store delivers the result of an admin query, such as client::list().
#pragma once
#include <holdfast/finding.hpp>
#include <holdfast/holder.hpp>

#include <vector>

#include "base/failure.hpp"

namespace holdfast::seam {
using namespace base;

// Called once, with none of the store's locks held, later or from inside the query.
template <class T>
struct result_handler {
  virtual void on_result(T) = 0;
  virtual void on_failed(failure) = 0;

 protected:
  ~result_handler() = default;
};

using holders_handler = result_handler<std::vector<holder>>;
using findings_handler = result_handler<std::vector<finding>>;
using decision_handler = result_handler<bool>;

}  // namespace holdfast::seam
