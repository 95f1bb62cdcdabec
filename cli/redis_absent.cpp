// In place of redis_deployment.cpp, where the command is built without Redis.
#include <stdexcept>

#include "cli/redis_deployment.hpp"

namespace holdfast::cli {

redis_deployment::redis_deployment(const std::string&, const url& where)
    : where_(where), has_sentinels_(false) {
  throw std::runtime_error("this command is built without Redis");
}

std::vector<url::endpoint> redis_deployment::announced() const { return {}; }
url::endpoint redis_deployment::reachable(const url::endpoint& announced) const {
  return announced;
}
void redis_deployment::fail_over(const std::stop_token&) const {}

}  // namespace holdfast::cli
