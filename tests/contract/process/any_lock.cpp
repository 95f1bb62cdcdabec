#include "any_lock.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace contract {
namespace {

constexpr std::array<std::string_view, 5> kind_words = {"mutex", "recursive", "writer", "reader",
                                                        "permit"};

// Calls what only some of the kinds have.
template <class Kinds, class Call>
decltype(auto) of_lockable(Kinds& lock, Call call) {
  using result = std::invoke_result_t<Call, decltype(std::get<0>(lock))>;
  return std::visit(
      [&](auto& one) -> result {
        if constexpr (std::is_invocable_v<Call, decltype(one)>) return call(one);
        throw std::logic_error("this kind of lock has no such verb");
      },
      lock);
}

std::uint32_t number(std::string_view text) {
  std::uint32_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size())
    throw std::invalid_argument("no number: " + std::string(text));
  return value;
}

}  // namespace

any_lock::any any_lock::made(const holdfast::client& c, std::string_view name, kind as) {
  switch (as) {
    case kind::recursive: return c.recursive_mutex(name);
    case kind::writer: return c.shared_mutex(name);
    case kind::reader: return reader(c, name);
    case kind::permit: return c.semaphore(name, 1);
    case kind::mutex: break;
  }
  return c.mutex(name);
}

any_lock::any_lock(const holdfast::client& c, std::string_view name, kind as)
    : lock_(made(c, name, as)) {}

any_lock::any_lock(const holdfast::client& c, std::string_view name, std::uint32_t wanted,
                   std::uint32_t of)
    : lock_(c.semaphore(name, of)), permits_(wanted) {}

any_lock::options any_lock::with_permits(options o) const {
  if (permits_ != 1) o.permits = permits_;
  return o;
}

holdfast::lease any_lock::acquire(const options& o, std::stop_token s) const {
  return std::visit([&](auto& one) { return one.acquire(with_permits(o), s); }, lock_);
}

holdfast::lease any_lock::acquire(const options& o, std::stop_token s, std::error_code& ec) const {
  return std::visit([&](auto& one) { return one.acquire(with_permits(o), s, ec); }, lock_);
}

holdfast::lease any_lock::try_acquire(const options& o) const {
  return std::visit([&](auto& one) { return one.try_acquire(with_permits(o)); }, lock_);
}

holdfast::lease any_lock::try_acquire(const options& o, std::error_code& ec) const {
  return std::visit([&](auto& one) { return one.try_acquire(with_permits(o), ec); }, lock_);
}

holdfast::lease any_lock::try_acquire_for(milliseconds d, const options& o,
                                          std::stop_token s) const {
  return std::visit([&](auto& one) { return one.try_acquire_for(d, with_permits(o), s); }, lock_);
}

holdfast::lease any_lock::try_acquire_for(milliseconds d, const options& o, std::stop_token s,
                                          std::error_code& ec) const {
  return std::visit([&](auto& one) { return one.try_acquire_for(d, with_permits(o), s, ec); },
                    lock_);
}

holdfast::lease any_lock::try_acquire_until(std::chrono::steady_clock::time_point t) const {
  return std::visit([&](auto& one) { return one.try_acquire_until(t); }, lock_);
}

void any_lock::lock() {
  of_lockable(lock_, [](auto& one) -> decltype(one.lock()) { return one.lock(); });
}

bool any_lock::try_lock() {
  return of_lockable(lock_, [](auto& one) -> decltype(one.try_lock()) { return one.try_lock(); });
}

bool any_lock::try_lock_for(milliseconds d) {
  return of_lockable(lock_, [d](auto& one) -> decltype(one.try_lock_for(d)) {
    return one.try_lock_for(d);
  });
}

void any_lock::unlock() noexcept {
  of_lockable(lock_, [](auto& one) -> decltype(one.unlock()) { return one.unlock(); });
}

const holdfast::lease& any_lock::current() const {
  return of_lockable(lock_, [](auto& one) -> decltype(one.current()) { return one.current(); });
}

any_lock lock_of(const holdfast::client& c, std::string_view spec, kind else_as) {
  const auto colon = spec.find(':');
  if (colon == std::string_view::npos) return {c, spec, else_as};
  const auto how = spec.substr(0, colon);
  const auto name = spec.substr(colon + 1);
  const auto of = how.find("of");
  if (of == std::string_view::npos) return {c, name, kind_of(how)};
  return {c, name, number(how.substr(0, of)), number(how.substr(of + 2))};
}

std::string_view word_of(kind as) { return kind_words.at(static_cast<std::size_t>(as)); }

kind kind_of(std::string_view word) {
  const auto* const found = std::ranges::find(kind_words, word);
  if (found == kind_words.end())
    throw std::invalid_argument("no kind of lock: " + std::string(word));
  return static_cast<kind>(found - kind_words.begin());
}

}  // namespace contract
