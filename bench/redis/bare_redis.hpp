// hiredis with nothing around it: commands formatted once, replies that are only looked at.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

struct redisContext;

namespace bench {

std::string formatted(std::initializer_list<std::string_view> words);  // as it goes over the wire

// One blocking connection to 127.0.0.1. All members throw std::runtime_error, also for a reply that
// is an error.
class bare_redis {
 public:
  explicit bare_redis(int port);

  void append(const std::string& command);  // a formatted one, into the next write
  void flush();
  std::size_t skip(std::size_t replies);  // waits for them; how many of them were no nil
  std::size_t skip_what_comes();          // waits for one at least; how many there were

 private:
  bool next_is_here(bool& nil);

  struct closing {
    void operator()(redisContext*) const noexcept;
  };
  std::unique_ptr<redisContext, closing> context_;
};

}  // namespace bench
