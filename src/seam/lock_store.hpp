// The locks of a store, as the cohorts see them: the first of the two roles that each folder of
// src/backend implements. The other one is its connection (seam/connection.hpp).
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>

#include "seam/capabilities.hpp"
#include "seam/claim.hpp"
#include "seam/result_handler.hpp"

namespace holdfast::seam {
using namespace base;

// The locks of one kind, or of every kind where one layout keeps them all. All locks of one name in
// one lock store exclude each other.
class lock_store {
 public:
  virtual ~lock_store() = default;
  virtual const capabilities& can() const noexcept = 0;
  // Beyond the rules for every backend (seam/name.hpp): empty, or why this name cannot be used
  // here.
  virtual std::string name_fault(std::string_view) const { return {}; }
  // Copies the name. A claim requests one mode at a time, given in each acquire_request.
  virtual std::unique_ptr<claim> open(std::string_view name, claim_sink&) = 0;
  // Whether requests for these locks can be granted all or none in one step.
  virtual bool can_lock_all(std::span<const std::string_view>) const { return false; }
  virtual void inspect(std::string_view prefix, holders_handler&) = 0;
  // The holders of this lock only; the cost does not depend on the number of locks in the store.
  virtual void holders(std::string_view name, holders_handler&) = 0;
  virtual void break_lock(std::string_view name, std::string_view holder_seen,
                          decision_handler&) = 0;

  // An extension, which only some stores offer, found by its interface. Null: not offered here.
  template <class Extension>
  Extension* find() noexcept {
    return static_cast<Extension*>(find_extension(typeid(Extension)));
  }

 protected:
  virtual void* find_extension(const std::type_info&) noexcept { return nullptr; }
  template <class Extension>
  static void* offer(Extension& e, const std::type_info& wanted) noexcept {
    return wanted == typeid(Extension) ? &e : nullptr;
  }
};

// An extension: unused locks leave something at the store that an operator can remove.
class unused_locks {
 public:
  // The result is the number of locks removed.
  virtual void remove_unused(result_handler<std::size_t>&) = 0;

 protected:
  ~unused_locks() = default;
};

}  // namespace holdfast::seam
