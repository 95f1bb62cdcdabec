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

// "\"file:\", \"redis:\"": those of this build.
std::string known(std::span<const seam::scheme> schemes) {
  std::string out;
  for (const seam::scheme& s : schemes)
    if (s.open) out.append(out.empty() ? "" : ", ").append("\"").append(s.name).append(":\"");
  return out;
}

const seam::scheme& scheme_of(const url& where, std::span<const seam::scheme> schemes) {
  const auto found = std::ranges::find(schemes, where.scheme(), &seam::scheme::name);
  if (found == schemes.end())
    base::refuse_url(where, "there is no backend for \"" + where.scheme() + ":\"; known are " +
                                known(schemes));
  if (!found->open)
    base::fail(errc::unsupported, "open",
               "this build has no such backend; configure it with -D" +
                   std::string(found->build_option) + "=ON",
               {}, where.text());
  return *found;
}

// Calls `begin` with the options of the URL that are the backend's own. Each error names the URL.
template <class Begin>
auto with_options(const url& where, const open_options& options, seam::client_options& shared,
                  Begin begin) {
  std::vector<url::option> own;
  try {
    shared = seam::read_client_options(where, own, options);
    return begin(own);
  } catch (const lock_error& e) {
    if (!e.backend().empty()) throw;
    base::fail(errc{e.code().value()}, "open", std::string(e.detail()), {}, where.text());
  } catch (const std::system_error& e) {
    base::fail(errc::unavailable, "open", base::shortage_of(e).text, {}, where.text());
  }
}

seam::backend open_backend(const url& where, const open_options& options,
                           seam::client_options& shared, base::environment& env,
                           std::stop_token stop, std::span<const seam::scheme> schemes) {
  const seam::scheme& to = scheme_of(where, schemes);
  return with_options(where, options, shared, [&](const std::vector<url::option>& own) {
    return to.open({where, shared, own, options.password, env, std::move(stop)});
  });
}

}  // namespace

struct client_impl::ending {
  void operator()(client_impl* c) const noexcept {
    if (!c->is_of_this_process()) return;  // its threads and mutexes belong to the parent
    c->close();
    delete c;
  }
};

std::vector<std::string> client_impl::schema(const url& where, base::environment& env) {
  const seam::scheme& of = scheme_of(where, seam::schemes());
  if (!of.schema) return {};
  seam::client_options shared;
  return with_options(where, {}, shared, [&](const std::vector<url::option>& own) {
    return of.schema({where, shared, own, {}, env, {}});
  });
}

std::shared_ptr<client_impl> client_impl::open(const url& where, const open_options& options,
                                               base::environment& env, std::stop_token stop,
                                               std::span<const seam::scheme> schemes) {
  return {new client_impl(where, options, env, std::move(stop), schemes), ending{}};
}

client_impl::client_impl(const url& where, const open_options& options, base::environment& env,
                         std::stop_token stop, std::span<const seam::scheme> schemes)
    : env_(env),
      text_(where.text()),
      backend_(open_backend(where, options, options_, env, std::move(stop), schemes)),
      timers_(*this, env) {
  if (options_.metrics) counts_ = std::make_unique<cohort::counters>();
  const auto phase = static_cast<std::uint32_t>(base::random_u64(env));
  for (const lock_kind k : {lock_kind::mutex, lock_kind::shared_mutex, lock_kind::semaphore}) {
    seam::lock_store* const locks = stores().of(k);
    rules_[static_cast<std::size_t>(k)] = {.options = options_,
                                           .can = (locks ? *locks : stores().first()).can(),
                                           .locks = locks,
                                           .env = &env,
                                           .counts = counts_.get(),
                                           .phase = phase};
  }
}

client_impl::~client_impl() {
  timers_.stop();
  notices_.reset();
  const std::lock_guard guard(local_locks_mutex_);  // the last local lock may just be retiring
  for (local_lock* const s : local_locks_) delete s;
}

namespace {

const char* noun_of(lock_kind k) noexcept {
  switch (k) {
    case lock_kind::mutex: return "mutex";
    case lock_kind::shared_mutex: return "shared_mutex";
    case lock_kind::semaphore: break;
  }
  return "semaphore";
}

}  // namespace

// With the table's mutex.
local_lock* client_impl::find_local_lock(std::string_view name, const cohort::lock_rules& rules,
                                         std::uint32_t permits) {
  local_lock* found = nullptr;
  const auto [first, last] = local_locks_.equal_range(name);
  for (auto at = first; at != last; ++at) {
    local_lock& l = **at;
    if (l.rules().locks == rules.locks) {
      if (l.permits() == permits) found = &l;
    } else if (const std::lock_guard inner(l.mutex_); !l.is_unused()) {
      base::fail(errc::mismatch, "mutex",
                 "this client uses the name for another kind of lock; kinds do not exclude each "
                 "other here: give each its own names",
                 name, text_);
    }
  }
  return found;
}

// With the first lock: a client that only inspects has nothing to record.
void client_impl::start_recording() noexcept try {
  const seam::capabilities& can = rules().can;
  if (!options_.recorder || !can.processes) return;
  base::failure why;
  recording_ =
      env_.make_recording({seam::without_client_options(text_), !can.has_deadlines()}, why);
  if (why.code)
    base::log(options_.log, log_level::info, "lock events are not recorded: " + why.text);
  for (cohort::lock_rules& r : rules_) {
    const auto same = std::ranges::find(rules_, r.locks, &cohort::lock_rules::locks);
    r.store_number = static_cast<std::uint16_t>(same - rules_.begin());
    r.recording = recording_.get();
  }
} catch (const std::exception&) {  // no memory: the locks work without it
}

local_lock& client_impl::local_lock_for(std::string_view name, lock_kind kind,
                                        std::uint32_t permits) {
  if (const auto fault = seam::name_fault(name); !fault.empty())
    base::fail(errc::bad_name, noun_of(kind), std::string(fault), {}, text_);
  if (auto fault = stores().first().name_fault(name); !fault.empty())
    base::fail(errc::bad_name, noun_of(kind), std::move(fault), {}, text_);
  if (!is_of_this_process())
    base::fail(errc::forked, noun_of(kind), "open a client of its own after fork()", name, text_);
  const cohort::lock_rules& of_kind = rules(kind);
  if (!of_kind.locks)
    base::fail(errc::unsupported, noun_of(kind), stores().lack_of(kind), name, text_);
  const std::lock_guard guard(local_locks_mutex_);
  if (!std::exchange(has_started_recording_, true)) start_recording();
  local_lock* found = find_local_lock(name, of_kind, permits);
  if (!found) {
    auto made = std::make_unique<local_lock>(*this, of_kind, name, permits);
    if (closed_) made->cohort_.close();
    local_locks_.insert(made.get());
    found = made.release();
  }
  found->add_user();
  return *found;
}

void client_impl::retire(local_lock& s) noexcept {
  {
    const std::lock_guard guard(local_locks_mutex_);
    const std::lock_guard inner(s.mutex_);
    s.is_retiring_ = s.is_unused();
    if (!s.is_retiring_) return;
    const auto [first, last] = local_locks_.equal_range(std::string_view(s.name()));
    local_locks_.erase(std::find(first, last, &s));
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
      ++s->threads_inside_;
      all.push_back(s);
    }
  }
  for (local_lock* const s : all) s->close();
  connection().flush();
  const base::time_point until = base::saturating_add(env_.now(), options_.close_timeout);
  const bool is_all_sent = await_verbs(all, until);
  const bool is_clean = connection().close(until) && is_all_sent;
  for (local_lock* const s : all) {
    local_lock::lock l(s->mutex_);
    s->run_effects(l, 0);
  }
  // A release reported as outcome_unknown may have been settled since.
  if (is_clean && !base::planted(base::mutant::settled_outcome_kept)) left_behind_ = false;
}

// An unlock() leaves its release to a thread that is running other verbs of the lock: the backend
// has to know of it before it says that nothing is left. From inside a verb there is no waiting: it
// may be the one to wait for.
bool client_impl::await_verbs(std::span<local_lock* const> of, base::time_point until) noexcept {
  const auto has_some = [](local_lock* s) {
    return s->has_verbs_left() && !base::planted(base::mutant::verbs_left_at_close);
  };
  while (std::ranges::any_of(of, has_some)) {
    if (local_lock::is_inside_verb() || env_.now() >= until) return false;
    std::this_thread::yield();
  }
  return true;
}

void client_impl::report(const std::string& lock, const base::failure& why,
                         bool is_awaited) noexcept {
  if (why.code == errc::outcome_unknown) left_behind_ = true;
  if (is_awaited) return;
  const lock_error report(why.code, {"release", lock, text_, why.text});
  base::log(options_.log, log_level::warning, report.what());
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
  base::log(options_.log, log_level::error,
            std::string("no notice of a doubt or a loss can be sent: ") + e.what());
}

}  // namespace holdfast::inline v0::detail
