#include <holdfast/guard.hpp>

#include "api/client_access.hpp"
#include "backend/redis/extensions.hpp"
#include "base/fail.hpp"
#include "cohort/blocked.hpp"
#include "cohort/client_impl.hpp"
#ifdef HOLDFAST_WITH_REDIS
#include "backend/redis/layouts/scripts.hpp"
#endif

namespace holdfast::inline v0 {

namespace {

constexpr std::size_t token_digits = 19;

}  // namespace

redis_guard::redis_guard(client where, std::string_view key, fencing comparison)
    : where_(std::move(where)), key_(key), comparison_(comparison) {
  if (!where_) base::fail(errc::closed, "redis_guard", "the client is empty: open() it first", key);
  const auto& impl = detail::client_access::impl(where_);
  if (auto fault = impl.stores().first().name_fault(key); !fault.empty() || key.empty())
    base::fail(errc::bad_name, "redis_guard", key.empty() ? "the key is empty" : std::move(fault),
               key, impl.text());
  if (lua().empty())
    base::fail(errc::unsupported, "redis_guard",
               "configure holdfast with -DHOLDFAST_WITH_REDIS=ON");
}

bool redis_guard::write(std::int64_t token, std::string_view owner, std::string_view value) {
  return ask(comparison_ == fencing::exact ? "exact" : "ordered", token, owner, value);
}

bool redis_guard::write(std::int64_t token, std::string_view owner, std::string_view value,
                        std::error_code& ec) {
  return base::in_either_form(&ec, [&] { return write(token, owner, value); });
}

void redis_guard::set(std::string_view owner) { ask("set", 0, owner, {}); }

void redis_guard::set(std::string_view owner, std::error_code& ec) {
  base::in_either_form(&ec, [&] { set(owner); });
}

bool redis_guard::ask(std::string_view operation, std::int64_t token, std::string_view owner,
                      std::string_view value) {
  auto& impl = detail::require_open(detail::client_access::shared(where_).get(), "write");
  if (token <= 0 && operation == "ordered") return false;
  const std::string digits = text_of(token);
  seam::lock_store* const locks = impl.rules().locks;
  auto* const values = locks ? locks->find<redis::guarded_values>() : nullptr;
  if (!values)
    base::fail(errc::unsupported, "write",
               "this client keeps no guarded values; open a redis: URL with layout=string", key_,
               impl.text());
  cohort::awaited<bool> answer;
  values->write({operation, key_, digits, owner, value}, answer);
  answer.wait_for(impl.connection(), impl.connection().driver());
  if (answer.why.code)
    base::fail(errc{answer.why.code.value()}, "write", answer.why.text, key_, impl.text());
  return answer.result;
}

std::string redis_guard::text_of(std::int64_t token) {
  std::string digits = std::to_string(token);
  return std::string(token_digits - std::min(token_digits, digits.size()), '0') + digits;
}

std::string_view redis_guard::lua() noexcept {
#ifdef HOLDFAST_WITH_REDIS
  return redis::string::scripts::guard.text;
#else
  return {};
#endif
}

}  // namespace holdfast::inline v0
