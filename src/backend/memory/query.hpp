// Admin queries: the holders of locks, and breaking a lock. They use the same transport as the
// claims' requests and fail when no answer comes within the op-timeout.
#pragma once
#include <list>
#include <memory>
#include <string>

#include "backend/memory/transport.hpp"
#include "seam/lock_store.hpp"

namespace holdfast::memory {

class queries {
 public:
  explicit queries(transport& over) noexcept;
  ~queries();  // the client is closed before

  void inspect(std::string_view prefix, seam::holders_handler&);
  void holders(std::string_view name, seam::holders_handler&);
  void break_lock(std::string_view name, const holder_seen&, seam::decision_handler&);
  // With the server's mutex held.
  bool empty() const noexcept { return items_.empty(); }
  void fail_all(errc, event_queue&);

 private:
  struct item;
  void start(std::unique_ptr<item>);

  transport& over_;
  std::list<std::unique_ptr<item>> items_;
};

}  // namespace holdfast::memory
