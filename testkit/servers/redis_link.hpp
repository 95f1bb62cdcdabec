// A connection of the test itself, to look at a server and to trouble it: plain and blocking.
#pragma once
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct redisContext;

namespace holdfast::testkit {

struct redis_reply {
  enum class kind : unsigned char { nil, integer, text, list, error } what = kind::nil;
  long long number = 0;            // of an integer
  std::string text;                // of a text or an error
  std::vector<redis_reply> items;  // of a list

  bool is_nil() const noexcept { return what == kind::nil; }
  bool is_error() const noexcept { return what == kind::error; }
};
std::string to_text(const redis_reply&);  // "(nil)", "3", "[a, b]", "(error) ERR ..."

// The server sent no reply in time, or closed the connection.
class redis_silent : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class redis_link {
 public:
  // For a connection and for a reply.
  static constexpr std::chrono::seconds usual_bound{30};

  explicit redis_link(const std::string& socket_path);  // throws redis_silent
  redis_link(const std::string& host, int port, std::chrono::seconds bound = usual_bound);
  ~redis_link();
  redis_link(redis_link&&) noexcept;
  redis_link& operator=(redis_link&&) = delete;

  redis_reply command(const std::vector<std::string>& words);  // throws redis_silent
  void send(const std::vector<std::string>& words);            // and does not wait for the reply
  redis_reply receive();                                       // of the first not received
  bool is_closed() const noexcept;                             // by the server

 private:
  redis_link(redisContext*, std::chrono::seconds bound);
  struct closing {
    void operator()(redisContext*) const noexcept;
  };
  std::unique_ptr<redisContext, closing> context_;
};

}  // namespace holdfast::testkit
