// The client's end of a connection, as the model of a server sees it.
#pragma once
#include <string_view>

namespace holdfast::sim {

// Called from inside the calls of the model, which it may not call back.
class peer {
 public:
  virtual void deliver(std::string_view bytes) = 0;
  virtual void kicked() = 0;  // the server closed the connection; nothing follows

 protected:
  ~peer() = default;
};

}  // namespace holdfast::sim
