#include "subject.hpp"

namespace contract {

const std::vector<subject_under_test>& subjects_under_test() {
  static const std::vector<subject_under_test> all = {
#ifdef HOLDFAST_WITH_MEMORY
      {.name = "memory",
       .make = make_memory_subject,
       .can = {.ttl = true, .fifo = true, .breakable = true, .shared = true, .permits = true},
       .has_outages = true,
       .downgrades = true,
       .most_not_applicable = 6},
#endif
#ifdef HOLDFAST_WITH_REDIS
      {.name = "redis",
       .make = make_redis_subject,
       .can = {.ttl = true,
               .fifo = true,
               .durable = true,
               .processes = true,
               .breakable = true,
               .shared = true,
               .permits = true},
       .has_outages = true,
       .downgrades = true,
       .most_not_applicable = 10},
#endif
      {.name = "file",
       .make = make_file_subject,
       .life = lifetime::process,
       .can = {.durable = true, .processes = true, .shared = true, .permits = true},
       .most_not_applicable = 20},
      {.name = "shared_file",
       .make = make_shared_file_subject,
       .life = lifetime::process,
       .can = {.durable = true, .processes = true, .shared = true, .permits = true},
       .has_time = false,
       .most_not_applicable = 22},
  };
  return all;
}

std::string with_options(std::string url, std::string_view options) {
  if (options.empty()) return url;
  url += url.find('?') == url.npos ? '?' : '&';
  return url.append(options);
}

}  // namespace contract
