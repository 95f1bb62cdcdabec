// A query that goes to several stores or servers: the last answer ends it.
#pragma once
#include <cstddef>
#include <mutex>

namespace holdfast::seam {

// Made with new; deletes itself once it has concluded. Answers come from any thread.
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
