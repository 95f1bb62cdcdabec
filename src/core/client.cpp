#include <holdfast/client.hpp>

#include <algorithm>

#include "core/blocked.hpp"
#include "core/client_access.hpp"
#include "core/client_impl.hpp"
#include "core/fail.hpp"
#include "core/name.hpp"

namespace holdfast::inline v0 {
namespace {

struct answer_with_holders final : core::inspection {
  core::parker parker;
  core::failure why;
  std::vector<holder> list;
  void found(std::vector<holder> l) override {
    list = std::move(l);
    parker.signal();
  }
  void failed(core::failure f) override {
    why = std::move(f);
    parker.signal();
  }
};

// Of the question that `ask` puts to the store, as `operation`.
template <class Ask>
std::vector<holder> answered(detail::client_impl& c, std::string_view operation,
                             std::string_view name, Ask ask) {
  answer_with_holders answer;
  ask(c.store(), answer);
  if (!answer.parker.signalled()) c.store().flush();
  core::wait(answer.parker, c.store());
  if (answer.why.code)
    core::fail(errc{answer.why.code.value()}, operation, answer.why.text, name, c.text());
  return std::move(answer.list);
}

void require_name(detail::client_impl& c, std::string_view operation, std::string_view name) {
  std::string fault(core::name_fault(name));
  if (fault.empty()) fault = c.store().name_fault(name);
  if (!fault.empty()) core::fail(errc::bad_name, operation, std::move(fault), {}, c.text());
}

void require_open(const detail::client_impl& c, std::string_view operation) {
  if (!c.is_of_this_process())
    core::fail(errc::forked, operation, "open a client of its own after fork()", {}, c.text());
  if (c.is_closed()) core::fail(errc::closed, operation, "the client was closed", {}, c.text());
}

}  // namespace

client client::open(std::string_view where, const open_options& how, std::stop_token stop) {
  if (stop.stop_requested()) core::fail(errc::canceled, "open", "it was stopped");
  return detail::client_access::open(holdfast::url::parse(where), how,
                                     detail::client_access::system_environment());
}

client client::open(std::string_view where, const open_options& how, std::stop_token stop,
                    std::error_code& ec) {
  ec.clear();
  try {
    return open(where, how, std::move(stop));
  } catch (const lock_error& e) {
    ec = e.code();
    return client(nullptr);
  }
}

std::vector<holder> client::inspect(std::string_view prefix) const {
  require_open(*impl_, "inspect");
  auto all = answered(*impl_, "inspect", {}, [&](core::backend& store, core::inspection& to) {
    store.inspect(prefix, to);
  });
  std::sort(all.begin(), all.end(),
            [](const holder& a, const holder& b) { return a.name < b.name; });
  return all;
}

std::vector<holder> client::holders(std::string_view name) const {
  require_open(*impl_, "holders");
  require_name(*impl_, "holders", name);
  return answered(*impl_, "holders", name,
                  [&](core::backend& store, core::inspection& to) { store.holders(name, to); });
}

bool client::break_lock(std::string_view name, std::string_view holder_seen) const {
  require_open(*impl_, "break_lock");
  require_name(*impl_, "break_lock", name);
  core::blocked_verdict answer;
  impl_->store().break_lock(name, holder_seen, answer);
  answer.wait_for(impl_->store());
  if (answer.why.code)
    core::fail(errc{answer.why.code.value()}, "break_lock", answer.why.text, name, impl_->text());
  return answer.yes;
}

std::size_t client::remove_unused() const {
  require_open(*impl_, "remove_unused");
  core::failure why;
  const std::size_t removed = impl_->store().remove_unused(why);
  if (why.code)
    core::fail(errc{why.code.value()}, "remove_unused", std::move(why.text), {}, impl_->text());
  return removed;
}

features client::features() const noexcept {
  const core::capabilities& can = impl_->rules().can;
  return {.ttl = can.life == core::bound_to::ttl,
          .fifo = can.queue == core::order::fifo,
          .durable = can.durable,
          .processes = can.processes,
          .breakable = can.breakable,
          .shared = (can.modes & core::bit_of(lock_mode::shared)) != 0,
          .permits = (can.modes & core::bit_of(lock_mode::permit)) != 0};
}

std::string client::url_text() const { return impl_->text(); }

metrics client::metrics() const {
  const core::tally* const counts = impl_->rules().counts;
  holdfast::metrics m = counts ? counts->read() : holdfast::metrics{};
  m.backend = impl_->text();
  return m;
}

bool client::close() noexcept { return !impl_->is_of_this_process() || impl_->close(); }

namespace detail {

client client_access::open(const url& where, const open_options& how, core::environment& env) {
  return client(client_impl::open(where, how, env));
}

client_impl& client_access::impl(const client& c) { return *c.impl_; }

}  // namespace detail
}  // namespace holdfast::inline v0
