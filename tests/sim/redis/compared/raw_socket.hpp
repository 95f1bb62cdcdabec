// A blocking Unix socket for tests that compare bytes.
#pragma once
#include <string>
#include <string_view>

namespace holdfast::sim {

class raw_socket {
 public:
  explicit raw_socket(const std::string& path);
  ~raw_socket();
  raw_socket(const raw_socket&) = delete;
  raw_socket& operator=(const raw_socket&) = delete;

  void write(std::string_view bytes);
  // What comes until it ends with `end`, until the peer closes, or until it is silent for 30 s.
  std::string read_until(std::string_view end);

 private:
  int socket_;
};

}  // namespace holdfast::sim
