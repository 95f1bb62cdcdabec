#include "contention/player.hpp"

#include <cstdio>
#include <utility>

#include "contention/fork_turn.hpp"

namespace holdfast::contention {

using namespace std::chrono_literals;
using history::result;

namespace {

constexpr auto longest_piece = 15ms, longest_belief = 100ms, pause_after_an_error = 20ms;
constexpr std::int64_t planted_token = 1;

}  // namespace

player::player(const client& c, history::history_writer& history, const terms& t)
    : participant(t.process, history, t.seed),
      terms_(t),
      features_(c.features()),
      resource_(t.resource),
      recursive_(c, t.names.recursive()),
      plays_{&player::take_mutex, &player::take_mutex, &player::enter_twice, &player::take_two,
             &player::take_and_fork} {
  for (std::size_t i = 0; i < mutex_count; ++i) mutexes_.push_back(c.mutex(terms_.names.mutex(i)));
  if (features_.shared) {
    for (std::size_t i = 0; i < shared_count; ++i)
      shared_.push_back(c.shared_mutex(terms_.names.shared(i)));
    plays_.insert(plays_.end(), {&player::read, &player::read, &player::write});
  }
  if (features_.permits) {
    permits_.emplace(c, terms_.names.permits(), permit_count);
    plays_.push_back(&player::take_permits);
  }
}

void player::play() { (this->*plays_[up_to(plays_.size() - 1)])(); }

template <class Acquire, class TryFor, class Try>
lease player::take(record begun, const Acquire& acquire, const TryFor& try_for, const Try& once) {
  std::error_code ec;
  lease held;
  const auto chance = up_to(9);
  if (chance == 0)
    held = once(ec);
  else if (chance < 6)
    held = try_for(wait_limit(), ec);
  else
    held = acquire(ec);
  note_grant(std::move(begun), held, ec);
  return held;
}

template <class Lock>
lease player::take_any(const std::string& name, const Lock& lock, const acquire_options& o) {
  record begun = begin(name, operation::acquire);
  if (o.permits != 1 || (permits_ && name == terms_.names.permits())) {
    begun.permits = o.permits;
    begun.of = permit_count;
  }
  return take(
      std::move(begun), [&](std::error_code& ec) { return lock.acquire(o, {}, ec); },
      [&](auto limit, std::error_code& ec) { return lock.try_acquire_for(limit, o, {}, ec); },
      [&](std::error_code& ec) { return lock.try_acquire(o, ec); });
}

bool player::note_grant(record begun, const lease& held, std::error_code ec) {
  if (ec == outcome::usage)
    std::printf("complaint: %s of %s: %s\n", process().c_str(), begun.lock.c_str(),
                ec.message().c_str());
  const bool has_it = static_cast<bool>(held);
  if (has_it && terms_.planted == plant::token) {
    begun.token = planted_token;
    begun.deadline = testkit::deadline_of(held);
    end(std::move(begun), result::ok);
  } else {
    granted(std::move(begun), held, ec);
  }
  if (has_it)
    ++grants_;
  else if (ec && ec != outcome::busy)
    work(pause_after_an_error);
  return has_it;
}

// A lease that is lost before this call has no notice: the callback would run at once.
player::loss_callback player::record_loss(const std::string& name, const lease& held) {
  const std::stop_token loss = held.loss_token();
  return loss_callback(loss.stop_requested() ? std::stop_token() : loss,
                       [this, r = begin(name, operation::notice, held)]() mutable {
                         r.call = history::history_now();
                         end(r, result::lost);
                       });
}

std::chrono::milliseconds player::wait_limit() {
  return std::chrono::milliseconds(up_to(static_cast<std::uint64_t>(terms_.ttl.count())));
}

void player::take_mutex() {
  const auto i = up_to(mutex_count - 1);
  auto held = take_any(terms_.names.mutex(i), mutexes_[i]);
  if (!held) return;
  const auto callback = record_loss(terms_.names.mutex(i), held);
  hold(terms_.names.mutex(i), held, true);
  give_back(terms_.names.mutex(i), std::move(held));
}

// The parent goes on as if it had not forked.
void player::take_and_fork() {
  const std::string name = terms_.names.mutex(0);
  auto held = take_any(name, mutexes_[0]);
  if (!held) return;
  const auto callback = record_loss(name, held);
  const std::string complaint = fork_while_holding(held, up_to(1) == 0);
  if (!complaint.empty())
    std::printf("complaint: %s of %s: %s\n", process().c_str(), name.c_str(), complaint.c_str());
  work_once(name, held, true);
  give_back(name, std::move(held));
}

// The inner lease is on the grant of the outer one.
void player::enter_twice() {
  auto outer = take_any(terms_.names.recursive(), recursive_);
  if (!outer) return;
  const auto callback = record_loss(terms_.names.recursive(), outer);
  std::error_code ec;
  auto inner = recursive_.reacquire(outer, ec);
  if (inner && inner.token() != outer.token())
    std::printf("complaint: %s: a lease of reacquire() has token %lld, not %lld\n",
                process().c_str(), static_cast<long long>(inner.token()),
                static_cast<long long>(outer.token()));
  hold(terms_.names.recursive(), outer, true);
  inner.release(ec);
  check(terms_.names.recursive(), outer);
  give_back(terms_.names.recursive(), std::move(outer));
}

void player::read() {
  const auto i = up_to(shared_count - 1);
  auto begun = begin(terms_.names.shared(i), operation::acquire);
  begun.shared = true;
  const shared_mutex& lock = shared_[i];
  auto held = take(
      std::move(begun), [&](std::error_code& ec) { return lock.acquire_shared({}, {}, ec); },
      [&](auto limit, std::error_code& ec) {
        return lock.try_acquire_shared_for(limit, {}, {}, ec);
      },
      [&](std::error_code& ec) { return lock.try_acquire_shared({}, ec); });
  if (!held) return;
  hold(terms_.names.shared(i), held, false);
  give_back(terms_.names.shared(i), std::move(held));
}

void player::write() {
  const auto i = up_to(shared_count - 1);
  auto held = take_any(terms_.names.shared(i), shared_[i]);
  if (!held) return;
  hold(terms_.names.shared(i), held, true);
  if (up_to(2) == 0) downgrade(terms_.names.shared(i), shared_[i], held);
  give_back(terms_.names.shared(i), std::move(held));
}

void player::downgrade(const std::string& name, const shared_mutex& lock, lease& held) {
  auto down = begin(name, operation::downgrade, held);
  bool done = true;
  try {
    held = lock.downgrade(std::move(held));
  } catch (const lock_error& e) {
    done = false;
    if (e.code() == outcome::usage)
      std::printf("complaint: %s: downgrade: %s\n", process().c_str(), e.what());
  }
  if (done) down.deadline = testkit::deadline_of(held);
  end(std::move(down), done ? result::ok : result::lost);
  if (!held) return;
  work(longest_piece);
  check(name, held);
}

void player::take_permits() {
  const acquire_options wanted{.permits = 1 + static_cast<std::uint32_t>(up_to(1))};
  auto held = take_any(terms_.names.permits(), *permits_, wanted);
  if (!held) return;
  hold(terms_.names.permits(), held, false);
  give_back(terms_.names.permits(), std::move(held));
}

void player::take_two() {
  std::vector<record> begun;
  for (std::size_t i = 0; i < mutex_count; ++i)
    begun.push_back(begin(terms_.names.mutex(i), operation::acquire));
  std::error_code ec;
  const multi_mutex both(mutexes_[0], mutexes_[1]);
  auto set =
      up_to(2) == 0 ? both.acquire({}, {}, ec) : both.try_acquire_for(wait_limit(), {}, {}, ec);
  const lease none;
  bool all = true;
  for (std::size_t i = 0; i < mutex_count; ++i)
    all = note_grant(begun[i], set ? set.members()[i] : none, ec) && all;
  if (!all) return;
  const auto first = record_loss(terms_.names.mutex(0), set.members()[0]);
  const auto second = record_loss(terms_.names.mutex(1), set.members()[1]);
  work(longest_piece);
  for (std::size_t i = 0; i < mutex_count; ++i) {
    const lease& one = set.members()[i];
    if (check(terms_.names.mutex(i), one))
      resource_.write(process(), terms_.names.mutex(i), one.token(), one.owner());
    begun[i] = begin(terms_.names.mutex(i), operation::release, one);
  }
  set.release(ec);
  for (auto& r : begun) end(std::move(r), result::unknown);
}

void player::hold(const std::string& name, lease& held, bool may_write) {
  const bool is_long = up_to(19) == 0;
  auto pieces = up_to(3);
  if (is_long) pieces = up_to(static_cast<std::uint64_t>(2 * terms_.ttl / longest_piece));
  for (; pieces > 0 && held.held(); --pieces) work_once(name, held, may_write);
}

void player::work_once(const std::string& name, lease& held, bool may_write) {
  work(longest_piece);
  if (features_.ttl && up_to(9) == 0) extend(name, held);
  if (terms_.planted == plant::late_check) check_late(name, held);
  if (check(name, held) && may_write) resource_.write(process(), name, held.token(), held.owner());
}

void player::check_late(const std::string& name, const lease& held) {
  auto r = begin(name, operation::check, held);
  r.deadline = r.call - 1;
  end(std::move(r), result::ok);
}

void player::extend(const std::string& name, lease& held) {
  auto r = begin(name, operation::renew, held);
  std::error_code ec;
  held.extend(terms_.ttl, ec);
  r.deadline = testkit::deadline_of(held);
  end(std::move(r), !ec ? result::ok : ec == outcome::lost ? result::lost : result::unknown);
}

void player::give_back(const std::string& name, lease held) {
  const auto token = held.token();
  const auto owner = held.owner();
  const bool is_exclusive = held.mode() == lock_mode::exclusive;
  if (terms_.planted == plant::overlap) {
    std::error_code ec;
    held.release(ec);
    work(longest_belief);
    auto r = begin(name, operation::release);
    r.token = token;
    return end(std::move(r), result::ok);
  }
  leave(name, std::move(held));
  const bool is_late = terms_.planted == plant::stale_write || up_to(7) == 0;
  if (is_exclusive && is_late) write_late(name, token, owner);
}

// As a holder does that does not notice its loss in time.
void player::write_late(const std::string& name, std::int64_t token, const std::string& owner) {
  work(longest_belief);
  resource_.write(process(), name, token, owner, true);
}

}  // namespace holdfast::contention
