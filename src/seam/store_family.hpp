// The lock stores of one backend, where a kind of lock may have a layout of its own.
#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "seam/lock_store.hpp"

namespace holdfast::seam {
using namespace base;

// Owns none of them. The questions of an operator go to all stores at once, and have one answer.
class store_family {
 public:
  store_family() = default;
  // For lack_of(): "layout x", and ": use layout y".
  store_family(std::string owner, std::string remedy)
      : owner_(std::move(owner)), remedy_(std::move(remedy)) {}

  // Each kind of lock is kept by the first store that has its modes.
  void add(lock_store&);

  // Null: there is none, for the reason lack_of(), for example "layout x has no shared mutexes: use
  // layout y" or "Redlock has no semaphores".
  lock_store* of(lock_kind k) const noexcept { return by_kind_[static_cast<std::size_t>(k)]; }
  std::string lack_of(lock_kind k) const { return owner_ + " has no " + plural_of(k) + remedy_; }
  lock_store& first() const noexcept { return *all_.front(); }
  std::span<lock_store* const> all() const noexcept { return all_; }  // in the order of add()

  void inspect(std::string_view prefix, holders_handler&) const;
  void holders(std::string_view name, holders_handler&) const;
  // A lock is broken in the store where the holder seen has it.
  void break_lock(std::string_view name, std::string_view holder_seen, decision_handler&) const;

 private:
  template <class T, class Ask>
  void ask(result_handler<T>&, Ask) const;

  std::string owner_ = "this backend", remedy_;
  std::vector<lock_store*> all_;
  std::array<lock_store*, 3> by_kind_{};
};

}  // namespace holdfast::seam
