// The ids of connections that may live on at a server after they were lost here, by the process
// that gave them: a client that is led to another server and back has to end those that it left
// behind. A server that is started anew counts its clients anew, under a new run_id.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.hpp"

namespace holdfast::redis {

class older_connections {
 public:
  // `id` 0: it is not known, so no client can end that connection.
  void add(std::string_view run_id, std::int64_t id, base::time_point now);
  void remove(std::string_view run_id, std::int64_t id);
  // To be ended before anything is sent to that process.
  std::vector<std::int64_t> of(std::string_view run_id, base::time_point now);
  // Nothing that was sent over one of them is executed any more, as far as can be known.
  bool is_clear(std::string_view run_id) const noexcept;

 private:
  struct server {
    std::string run_id;
    base::time_point last{};
    std::vector<std::int64_t> ids;
    bool has_unknown = false;
  };
  server& entry(std::string_view run_id);
  const server* find(std::string_view run_id) const noexcept;

  std::vector<server> servers_;  // those that were left last, at the end
};

}  // namespace holdfast::redis
