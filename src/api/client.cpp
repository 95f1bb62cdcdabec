#include <holdfast/client.hpp>

#include <algorithm>
#include <cstdlib>

#include "api/client_access.hpp"
#include "base/fail.hpp"
#include "cohort/blocked.hpp"
#include "cohort/client_impl.hpp"
#include "seam/name.hpp"
#include "seam/registry.hpp"

namespace holdfast::inline v0 {
namespace {

// The result of the query that `ask` sends, as `operation`.
template <class T, class Ask>
T answered(detail::client_impl& c, std::string_view operation, std::string_view name, Ask ask) {
  cohort::awaited<T> answer;
  ask(answer);
  seam::connection& over = c.connection();
  answer.wait_for(over, name.empty() ? over.driver() : over.of(name).driver());
  if (answer.why.code)
    base::fail(errc{answer.why.code.value()}, operation, answer.why.text, name, c.text());
  return std::move(answer.result);
}

}  // namespace

client client::open(std::string_view where, const open_options& options, std::stop_token stop) {
  if (stop.stop_requested()) base::fail(errc::canceled, "open", "it was stopped");
  return open(holdfast::url::parse(where), options, std::move(stop));
}

client client::open(const holdfast::url& at, const open_options& options, std::stop_token stop) {
  if (stop.stop_requested()) base::fail(errc::canceled, "open", "it was stopped");
  if (at.scheme().empty())
    base::fail(errc::bad_url, "open", "the URL is empty; parse() a text first");
  return detail::client_access::open(at, options, seam::environment_of(at), std::move(stop));
}

client client::open(std::string_view where, const open_options& options, std::stop_token stop,
                    std::error_code& ec) {
  return base::in_either_form(&ec, [&] { return open(where, options, std::move(stop)); });
}

client client::open(const holdfast::url& at, const open_options& options, std::stop_token stop,
                    std::error_code& ec) {
  return base::in_either_form(&ec, [&] { return open(at, options, std::move(stop)); });
}

client client::open() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the program must not change its environment meanwhile
  const char* const where = std::getenv("HOLDFAST_URL");
  if (!where)
    base::fail(
        errc::bad_url, "open",
        "HOLDFAST_URL is not set; set it, or give open() a URL, for example \"file:\" for the "
        "locks of this machine");
  if (!*where)
    base::fail(errc::bad_url, "open",
               "HOLDFAST_URL is empty; set it to a URL, for example file: for the locks of this "
               "machine");
  return open(std::string_view(where));
}

client client::open(std::error_code& ec) {
  return base::in_either_form(&ec, [&] { return open(); });
}

std::vector<std::string> client::schema(std::string_view where) {
  const auto at = holdfast::url::parse(where);
  return detail::client_impl::schema(at, seam::environment_of(at));
}

std::vector<std::string> client::schema(std::string_view where, std::error_code& ec) {
  return base::in_either_form(&ec, [&] { return schema(where); });
}

std::vector<holder> client::list(std::string_view prefix) const {
  auto& c = detail::require_open(impl_.get(), "list");
  auto all = answered<std::vector<holder>>(c, "list", {},
                                           [&](auto& to) { c.stores().inspect(prefix, to); });
  detail::sort_by_name(all);
  return all;
}

std::vector<holder> client::list(std::string_view prefix, std::error_code& ec) const {
  return base::in_either_form(&ec, [&] { return list(prefix); });
}

std::vector<holder> client::holders(std::string_view name) const {
  auto& c = detail::require_named(impl_.get(), "holders", name);
  return answered<std::vector<holder>>(c, "holders", name,
                                       [&](auto& to) { c.stores().holders(name, to); });
}

std::vector<holder> client::holders(std::string_view name, std::error_code& ec) const {
  return base::in_either_form(&ec, [&] { return holders(name); });
}

bool client::break_lock(std::string_view name, std::string_view seen) const {
  auto& c = detail::require_named(impl_.get(), "break_lock", name);
  return answered<bool>(c, "break_lock", name,
                        [&](auto& to) { c.stores().break_lock(name, seen, to); });
}

bool client::break_lock(std::string_view name, std::string_view seen, std::error_code& ec) const {
  return base::in_either_form(&ec, [&] { return break_lock(name, seen); });
}

std::vector<finding> client::diagnose() const {
  auto& c = detail::require_open(impl_.get(), "diagnose");
  return answered<std::vector<finding>>(c, "diagnose", {},
                                        [&](auto& to) { c.connection().diagnose(to); });
}

std::vector<finding> client::diagnose(std::error_code& ec) const {
  return base::in_either_form(&ec, [&] { return diagnose(); });
}

std::size_t client::prune() const {
  auto& c = detail::require_open(impl_.get(), "prune");
  auto* const unused = c.stores().first().find<seam::unused_locks>();
  if (!unused)
    base::fail(errc::unsupported, "prune",
               "this store needs no pruning: what a killed holder leaves on the server expires, or "
               "is removed when the lock is next used",
               {}, c.text());
  return answered<std::size_t>(c, "prune", {}, [&](auto& to) { unused->remove_unused(to); });
}

std::size_t client::prune(std::error_code& ec) const {
  return base::in_either_form(&ec, [&] { return prune(); });
}

features client::features() const noexcept {
  const bool has_mutexes = impl_ && impl_->rules().locks;
  return features(has_mutexes ? lock_kind::mutex : lock_kind::semaphore);
}

features client::features(lock_kind k) const noexcept {
  if (!impl_ || !impl_->rules(k).locks) return {};
  const seam::capabilities& can = impl_->rules(k).can;
  holdfast::features out{.ttl = can.core_renews(),
                         .deadline = can.has_deadlines(),
                         .fifo = can.queue == seam::order::fifo,
                         .durable = can.durable,
                         .processes = can.processes,
                         .breakable = can.breakable,
                         .revocation = can.revocation,
                         .tokens = can.tokens,
                         .unsafe = can.unsafe,
                         .permits = impl_->rules(lock_kind::semaphore).locks != nullptr};
  if (const cohort::lock_rules& readers = impl_->rules(lock_kind::shared_mutex); readers.locks) {
    out.shared = true;
    out.reader_tokens = readers.can.own_reader_tokens ? reader_tokens::own : reader_tokens::common;
    out.writer_preference = readers.can.writer_preference;
    out.downgrade = readers.can.downgrade;
  }
  return out;
}

std::string client::url_text() const { return impl_ ? impl_->text() : std::string(); }

metrics client::metrics() const {
  if (!impl_) return {};
  const cohort::counters* const counts = impl_->rules().counts;
  holdfast::metrics m = counts ? counts->read() : holdfast::metrics{};
  m.backend = impl_->place();
  if (!impl_->is_of_this_process()) return m;
  const seam::connection_status known = impl_->connection().status();
  m.connected = known.connected && !impl_->is_closed();
  m.reconnects = known.reconnects;
  return m;
}

bool client::close() noexcept { return !impl_ || !impl_->is_of_this_process() || impl_->close(); }

namespace detail {

client client_access::open(const url& where, const open_options& options, base::environment& env,
                           std::stop_token stop, std::span<const seam::scheme> schemes) {
  return client(client_impl::open(where, options, env, std::move(stop), schemes));
}

client_impl& require_open(client_impl* const impl, std::string_view operation) {
  if (!impl) base::fail(errc::closed, operation, "the client is empty: open() it first");
  client_impl& c = *impl;
  if (!c.is_of_this_process())
    base::fail(errc::forked, operation, "open a client of its own after fork()", {}, c.text());
  if (c.is_closed()) base::fail(errc::closed, operation, "the client was closed", {}, c.text());
  return c;
}

client_impl& require_named(client_impl* const impl, std::string_view operation,
                           std::string_view name) {
  client_impl& c = require_open(impl, operation);
  std::string fault(seam::name_fault(name));
  if (fault.empty()) fault = c.stores().first().name_fault(name);
  if (!fault.empty()) base::fail(errc::bad_name, operation, std::move(fault), {}, c.text());
  return c;
}

void sort_by_name(std::vector<holder>& all) { std::ranges::sort(all, {}, &holder::name); }

client_impl& client_access::impl(const client& c) { return *c.impl_; }

}  // namespace detail
}  // namespace holdfast::inline v0
