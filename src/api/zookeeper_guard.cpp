#include <holdfast/guard.hpp>

#include <utility>

#include "base/fail.hpp"
#include "cohort/blocked.hpp"
#include "cohort/client_impl.hpp"
#include "cohort/local_lock.hpp"
#include "cohort/turn.hpp"

namespace holdfast::inline v0 {

namespace {

constexpr std::size_t value_max = 1'000'000;  // a server takes no request of 1 MiB

struct awaited_version final : core::held_write_handler {
  core::parker parker;
  std::int32_t version = 0;
  core::failure why;
  void on_written(std::int32_t v) override {
    version = v;
    parker.signal();
  }
  void on_failed(core::failure f) override {
    why = std::move(f);
    parker.signal();
  }
};

}  // namespace

std::int32_t zookeeper_guard::write(const lease& by, std::string_view value,
                                    std::int32_t version) const {
  by.check();
  if (value.size() > value_max)
    core::fail(errc::refused, "write",
               "the value has more than " + std::to_string(value_max) + " bytes", path_);
  detail::turn& t = *by.turn_;
  const std::string owner = t.home.owner(t);
  core::backend& store = t.home.client().store();
  awaited_version answer;
  store.write_held({t.home.name(), owner, path_, value, version}, answer);
  if (!answer.parker.signalled()) store.flush();
  core::wait(answer.parker, store);
  if (answer.why.code) t.home.fail("write", std::move(answer.why));
  return answer.version;
}

std::int32_t zookeeper_guard::write(const lease& by, std::string_view value, std::int32_t version,
                                    std::error_code& ec) const {
  return core::in_either_form(&ec, [&] { return write(by, value, version); });
}

}  // namespace holdfast::inline v0
