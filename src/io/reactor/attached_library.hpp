// A client library that performs its own socket I/O, as libmariadb does. Its calls may block for a
// moment (a TLS handshake), so none of them is made with the client's mutex held:
//
//   decide()   with the mutex     what is to be done next is taken from what was submitted
//   perform()  without the mutex  the library is called, by one thread at a time
//   report()   with the mutex     what the library has answered reaches its claims
//
// Work that becomes due while a thread performs is left to that thread, which decides again after
// it has reported.
#pragma once
#include <memory>

#include "base/descriptor_list.hpp"
#include "base/event_queue.hpp"
#include "base/network.hpp"

namespace holdfast::io {

class client_reactor;

class library_user {
 public:
  // `ready`: what the descriptor has become ready for since the last call. False: there is nothing
  // to do now.
  virtual bool decide(base::readiness ready, base::time_point now) = 0;
  virtual void perform() noexcept = 0;
  // May destroy the attached_library, unless that watches a descriptor.
  virtual void report(base::time_point now, base::event_queue&) = 0;

 protected:
  ~library_user() = default;
};

class attached_library final : private base::descriptor_events {
 public:
  // Belongs to that loop: only threads that drive it, or flush it, perform.
  attached_library(client_reactor&, library_user&, base::driven_by) noexcept;
  attached_library(const attached_library&) = delete;
  attached_library& operator=(const attached_library&) = delete;
  // With the mutex, while no thread performs and no descriptor is watched; or after stop().
  ~attached_library();

  // With the mutex: decide() is called by the next flush of the loop, which the caller requests.
  void request();

  // Inside perform(), which begins with nothing awaited. Throws std::system_error. False: this
  // environment watches no descriptors (the simulator's, which replaces the library as a whole).
  // Until unwatch(), which comes before the library closes it, the child of a fork closes it.
  bool watch(int fd);                      // in place of the one before
  void await(base::readiness r) noexcept;  // decide() is called once it is ready for that
  void unwatch() noexcept;

 private:
  friend class client_reactor;
  void on_ready(base::readiness) override;
  void call() noexcept;

  client_reactor& home_;
  library_user& user_;
  const base::driven_by loop_;
  std::unique_ptr<base::descriptor_watch> watch_;  // accessed by the thread that performs
  base::descriptor_list::place* place_ = nullptr;  // the same
  // With the mutex:
  base::readiness ready_ = base::readiness::none;
  bool is_due_ = false;
  bool is_performing_ = false;
};

}  // namespace holdfast::io
