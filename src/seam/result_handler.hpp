// Where a store delivers the result of an admin query, such as client::list().
#pragma once
#include <holdfast/finding.hpp>
#include <holdfast/holder.hpp>

#include <cstddef>
#include <mutex>
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

// A query that goes to several stores or servers: the last answer ends it. Made with new; deletes
// itself once it has concluded. Answers come from any thread.
class awaited_answers {
 public:
  awaited_answers(const awaited_answers&) = delete;
  awaited_answers& operator=(const awaited_answers&) = delete;

  // One answer; change() writes it down, one thread at a time.
  template <class Change>
  void note(Change change) {
    {
      const std::lock_guard guard(mutex_);
      change();
      if (--awaited_ > 0) return;
    }
    conclude();
    delete this;
  }

 protected:
  explicit awaited_answers(std::size_t answers) noexcept : awaited_(answers) {}
  virtual ~awaited_answers() = default;

 private:
  virtual void conclude() = 0;  // all answers are there

  std::mutex mutex_;
  std::size_t awaited_;
};

}  // namespace holdfast::seam
