#include "cohort/client_impl.hpp"

#include <algorithm>
#include <exception>
#include <system_error>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/mutant.hpp"
#include "seam/name.hpp"

namespace holdfast::inline v0::detail {
namespace {

std::unique_ptr<core::backend> open_store(const url& where, const open_options& how,
                                          core::client_options& shared, core::environment& env,
                                          std::stop_token stop,
                                          std::span<const core::scheme> schemes) {
  const auto found = std::find_if(schemes.begin(), schemes.end(),
                                  [&](const core::scheme& s) { return s.name == where.scheme(); });
  if (found == schemes.end()) {
    std::string known;
    for (const core::scheme& s : schemes)
      if (s.open) known.append(known.empty() ? "" : ", ").append("\"").append(s.name).append(":\"");
    core::fail(errc::bad_url, "open",
               "there is no backend for \"" + where.scheme() + ":\"; known are " + known, {},
               where.text());
  }
  if (!found->open && found->build_option.empty())
    core::fail(errc::unsupported, "open", '"' + where.scheme() + ":\" is not in this version", {},
               where.text());
  if (!found->open)
    core::fail(errc::unsupported, "open",
               "this build has no such backend; configure it with -D" +
                   std::string(found->build_option) + "=ON",
               {}, where.text());
  std::vector<url::option> own;
  try {
    shared = core::read_client_options(where, own, how);
    return found->open({where, shared, own, how.password, env, std::move(stop)});
  } catch (const lock_error& e) {
    if (!e.backend().empty()) throw;
    core::fail(errc{e.code().value()}, "open", std::string(e.remedy()), {}, where.text());
  } catch (const std::system_error& e) {
    core::fail(errc::unavailable, "open", core::shortage_of(e).text, {}, where.text());
  }
}

}  // namespace

struct client_impl::ending {
  void operator()(client_impl* c) const noexcept {
    if (!c->is_of_this_process()) return;  // its threads and mutexes belong to the parent
    c->close();
    delete c;
  }
};

std::shared_ptr<client_impl> client_impl::open(const url& where, const open_options& how,
                                               core::environment& env, std::stop_token stop,
                                               std::span<const core::scheme> schemes) {
  return {new client_impl(where, how, env, std::move(stop), schemes), ending{}};
}

client_impl::client_impl(const url& where, const open_options& how, core::environment& env,
                         std::stop_token stop, std::span<const core::scheme> schemes)
    : env_(env),
      text_(where.text()),
      store_(open_store(where, how, rules_.options, env, std::move(stop), schemes)),
      timers_(*this, env) {
  rules_.can = store_->can();
  rules_.store = store_.get();
  rules_.env = &env;
  if (rules_.options.metrics) counts_ = std::make_unique<core::counters>();
  rules_.counts = counts_.get();
  rules_.phase = static_cast<std::uint32_t>(core::random_u64(env));
}

client_impl::~client_impl() {
  timers_.stop();
  notices_.reset();
  const std::lock_guard guard(local_locks_mutex_);  // the last local lock may just be retiring
  for (local_lock* const s : local_locks_) delete s;
}

local_lock& client_impl::local_lock_for(std::string_view name, std::uint32_t permits) {
  if (const auto fault = core::name_fault(name); !fault.empty())
    core::fail(errc::bad_name, "mutex", std::string(fault), {}, text_);
  if (auto fault = store_->name_fault(name); !fault.empty())
    core::fail(errc::bad_name, "mutex", std::move(fault), {}, text_);
  if (!is_of_this_process())
    core::fail(errc::forked, "mutex", "open a client of its own after fork()", name, text_);
  const std::lock_guard guard(local_locks_mutex_);
  auto found = local_locks_.find(by_name::key{name, permits});
  if (found == local_locks_.end()) {
    auto made = std::make_unique<local_lock>(*this, name, permits);
    if (closed_) made->cohort_.close();
    found = local_locks_.insert(made.get()).first;
    (void)made.release();
  }
  (*found)->add_user();
  return **found;
}

void client_impl::retire(local_lock& s) noexcept {
  {
    const std::lock_guard guard(local_locks_mutex_);
    const std::lock_guard inner(s.mutex_);
    s.retiring_ = s.unused();
    if (!s.retiring_) return;
    local_locks_.erase(&s);
  }
  timers_.disarm(s);
  delete &s;
}

void client_impl::keep() {
  const std::lock_guard guard(keep_mutex_);
  if (keepers_++ == 0) self_ = shared_from_this();
}

void client_impl::unkeep() noexcept {
  std::shared_ptr<client_impl> last_reference;  // destroyed after the guard
  const std::lock_guard guard(keep_mutex_);
  if (--keepers_ == 0) last_reference = std::move(self_);
}

// A second caller waits for the first, so that both report what was left behind. A nested call from
// inside close(), such as from a log hook, returns at once: waiting would deadlock.
bool client_impl::close() noexcept {
  if (closer_ == std::this_thread::get_id()) return !left_behind_;
  const std::lock_guard guard(closing_);
  if (closed_.exchange(true)) return !left_behind_;
  closer_ = std::this_thread::get_id();
  close_all();
  closer_ = std::thread::id();
  return !left_behind_;
}

void client_impl::close_all() noexcept {
  std::vector<local_lock*> all;
  {
    const std::lock_guard guard(local_locks_mutex_);
    for (local_lock* const s : local_locks_) {
      const std::lock_guard inner(s->mutex_);
      ++s->visits_;
      all.push_back(s);
    }
  }
  for (local_lock* const s : all) s->close();
  store_->flush();
  const bool is_clean =
      store_->close(core::saturating_add(env_.now(), rules_.options.close_timeout));
  for (local_lock* const s : all) {
    local_lock::lock l(s->mutex_);
    s->run_effects(l, 0);
  }
  // A release reported as outcome_unknown may have been settled since.
  if (is_clean && !core::planted(core::mutant::settled_outcome_kept)) left_behind_ = false;
}

void client_impl::report(const std::string& lock, const core::failure& why, bool is_told) noexcept {
  if (why.code == errc::outcome_unknown) left_behind_ = true;
  if (is_told) return;
  const lock_error report(why.code, {"release", lock, text_, why.text, {}});
  core::log(log_level::warning, report.what());
}

// When no thread can be started the process goes on: held() is exact, and the next notification
// delivers these too.
void client_impl::notify(std::vector<std::stop_source> sources) noexcept try {
  const std::lock_guard guard(notices_mutex_);
  undelivered_.insert(undelivered_.end(), sources.begin(), sources.end());
  if (!notices_) notices_ = env_.make_worker("holdfast-notice");
  notices_->post([due = undelivered_]() mutable {
    for (std::stop_source& s : due) s.request_stop();
  });
  undelivered_.clear();
} catch (const std::exception& e) {
  core::log(log_level::error,
            std::string("no notice of a doubt or a loss can be sent: ") + e.what());
}

}  // namespace holdfast::inline v0::detail
