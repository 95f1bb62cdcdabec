#include "subject.hpp"

namespace contract {

const std::vector<backend_under_test>& backends_under_test() {
  static const std::vector<backend_under_test> all = {
#ifdef HOLDFAST_WITH_MEMORY
      {.name = "memory",
       .make = make_memory_subject,
       .can = {.ttl = true, .fifo = true, .durable = false, .processes = false, .breakable = true},
       .has_outages = true,
       .downgrades = true,
       .most_not_applicable = 6},
#endif
#ifdef HOLDFAST_WITH_REDIS
      {.name = "redis",
       .make = make_redis_subject,
       .can = {.ttl = true, .fifo = true, .durable = true, .processes = true, .breakable = true},
       .has_outages = true,
       .downgrades = true,
       .most_not_applicable = 10},
#endif
      {.name = "file",
       .make = make_file_subject,
       .can = {.ttl = false, .fifo = false, .durable = true, .processes = true, .breakable = false},
       .has_outages = false,
       .most_not_applicable = 20},
      {.name = "shared_file",
       .make = make_shared_file_subject,
       .can = {.ttl = false, .fifo = false, .durable = true, .processes = true, .breakable = false},
       .has_outages = false,
       .has_time = false,
       .most_not_applicable = 22},
  };
  return all;
}

}  // namespace contract
