// A memory store, its clients, and a clock that only moves when everybody waits.
#pragma once
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "call.hpp"
#include "testkit/manual_environment.hpp"

namespace holdfast::mutants {

using namespace std::chrono_literals;

// Leases are declared after the fixture that they are of.
class fixture {
 public:
  fixture();
  ~fixture();  // releases everything, without faults

  // A client of the store, with these options of the URL.
  client& open(std::string_view options);

  // The call in a thread of its own, up to where it waits.
  template <class Result>
  std::shared_ptr<call<Result>> start(typename call<Result>::function what) {
    auto one = std::make_shared<call<Result>>(std::move(what));
    one->settle();
    return one;
  }
  // A lease of the lock, once that has come.
  std::shared_ptr<call<lease>> acquire(const client&, const acquire_options& = {});
  // An attempt, answered: empty when busy or broken.
  lease attempt(const client&);

  // Moves the clock, a step at a time; `one` is waited for at each.
  void pass(base::duration, const pending* one = nullptr);
  // Moves it until the call is done, at most so long. False when it is not; then it is stopped.
  bool passes_until(pending& one, base::duration most);

  base::time_point now() { return env.now(); }

  testkit::manual_environment env;
  memory_store store;

 private:
  std::deque<client> clients_;
};

inline constexpr std::string_view lock_name = "job";
inline constexpr acquire_options by_hand(std::chrono::milliseconds ttl) {
  return {.ttl = ttl, .renew = renewal::manual};
}

}  // namespace holdfast::mutants
