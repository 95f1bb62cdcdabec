#include <holdfast/holdfast.hpp>

#include <chrono>
#include <stop_token>
#include <system_error>

using namespace std::chrono_literals;

bool run_one_job(std::int64_t token);  // false: there is no work

void schedule(const holdfast::client& client, std::stop_token stop) {
  holdfast::election office(client, "scheduler", {.ttl = 10s});
  while (!stop.stop_requested()) {
    if (!office.try_campaign_for(1h, "10.0.0.7:8080", stop)) continue;
    while (!office.term().in_doubt() && run_one_job(office.term().token())) {}
    std::error_code deposed;  // errc::lost: another candidate may have led already
    office.resign(deposed);
  }
}
