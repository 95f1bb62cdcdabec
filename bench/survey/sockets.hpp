// The traffic of this process.
#pragma once
#include <set>
#include <string>

namespace survey {

// The TCP connections that this process opens after the object was made: not those of proxies and
// of servers' views that exist already.
class new_sockets {
 public:
  new_sockets();
  // The sum of the bytes sent and received. Connections that are closed meanwhile do not count.
  double bytes() const;

 private:
  const std::set<std::string> older_;
};

}  // namespace survey
