#include <holdfast/guard.hpp>

#include <utility>

#include "backend/zookeeper/held_nodes.hpp"
#include "base/fail.hpp"
#include "cohort/blocked.hpp"
#include "cohort/client_impl.hpp"
#include "cohort/local_lock.hpp"
#include "cohort/turn.hpp"

namespace holdfast::inline v0 {

namespace {

constexpr std::size_t value_max = 1'000'000;  // a server takes no request of 1 MiB

}  // namespace

std::int32_t zookeeper_guard::write(const lease& by, std::string_view value,
                                    std::int32_t version) const {
  by.check();
  if (value.size() > value_max)
    base::fail(errc::refused, "write",
               "the value has more than " + std::to_string(value_max) + " bytes", path_);
  detail::turn& t = *by.turn_;
  const std::string owner = t.home.owner(t);
  auto* const nodes = t.home.rules().locks->find<zookeeper::held_nodes>();
  if (!nodes)
    t.home.fail("write", {errc::unsupported,
                          "no write can be tied to a holder of this lock; use a zookeeper: URL, "
                          "with any layout but node"});
  cohort::awaited<std::int32_t> answer;
  nodes->write({t.home.name(), owner, path_, value, version}, answer);
  answer.wait_for(t.home.client().connection(), t.home.driver());
  if (answer.why.code) t.home.fail("write", std::move(answer.why));
  return answer.result;
}

std::int32_t zookeeper_guard::write(const lease& by, std::string_view value, std::int32_t version,
                                    std::error_code& ec) const {
  return base::in_either_form(&ec, [&] { return write(by, value, version); });
}

}  // namespace holdfast::inline v0
