// An operator's question of several commands.
#pragma once
#include <mutex>
#include <string>
#include <utility>

#include "backend/redis/link.hpp"

namespace holdfast::redis {

// One after the other. Ends itself when its answer is told.
class question : public answerer, protected core::news {
 public:
  explicit question(link& l) noexcept : over(l) {}
  virtual ~question() = default;

  void start() {
    link& l = over;  // another thread may tell the answer and end this
    core::crier cry;
    {
      const std::lock_guard guard(l.mutex());
      const time_point now = l.env().now();
      l.count({.waiting = 1}, now);
      ask(now, cry);
    }
    l.collected(true);
    cry.tell_all();
  }

 protected:
  virtual void ask(time_point now, core::crier&) = 0;
  virtual void tell_answer() = 0;

  // False when there is no connection: it has finished then, and must send no more.
  bool send(std::string&& bytes, time_point now, core::crier& cry) {
    if (over.ask_special(*this, std::move(bytes), now)) return true;
    finish({errc::unavailable, over.why_not()}, now, cry);
    return false;
  }
  void cut(time_point now, core::crier& cry) override {
    if (--awaited > 0) return;
    finish({errc::unavailable, "the connection was lost"}, now, cry);
  }
  void finish(core::failure f, time_point now, core::crier& cry) {
    why = std::move(f);
    over.count({.waiting = -1}, now);
    cry.post(*this, core::tell::ended);
  }
  void say(core::tell) override {
    tell_answer();
    retire();
  }
  void give_back() noexcept override { delete this; }

  link& over;
  core::failure why;
  std::size_t awaited = 0;
};

}  // namespace holdfast::redis
