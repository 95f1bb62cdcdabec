// Locks for Boost.Asio: coroutines, callbacks, futures. Only this header includes Boost.
//
//   auto lease = co_await m.async_acquire({.ttl = 10s});
//   co_await (work() || lease.async_wait_lost());
//   co_await lease.async_release();
//
//   call                                | completes with
//   ------------------------------------+--------------------------------------------------------
//   m.async_acquire(o, token)           | (error_code, lease): waits as acquire()
//   m.async_try_acquire(o, token)       | (error_code, lease): one attempt; busy: an empty lease
//   m.async_try_acquire_for(d, o, t)    | (error_code, lease): waits at most that duration
//   m.async_try_acquire_until(tp, o, t) | (error_code, lease): waits at most until that time
//   s.async_acquire_shared(...) etc.    | the same for a reader of a shared_mutex
//   multi.async_acquire(...) etc.       | (error_code, lease_set): all of them or none; the locks
//                                       | must exist until it completes
//   client.async_acquire_all(names, ..) | the same for mutexes by name; async_try_acquire_all, and
//                                       | its _for(names, d, ..) and _until(names, tp, ..)
//   office.async_campaign(value, token) | (error_code, bool): as campaign(), whether this candidate
//                                       | leads; async_try_campaign, and its _for(d, value, ..)
//                                       | and _until(tp, value, ..). The election must exist until
//                                       | it completes; until then call only is_leader(), observe()
//   office.async_resign(token)          | (error_code): as resign(); is_leader() is false at once
//   lease.async_extend(ttl, token)      | (error_code): as extend(); also of a lease_set
//   lease.async_wait_lost(token)        | (error_code): success once the lease is lost, also by the
//                                       | close() of its client
//   lease.async_release(token)          | (error_code): as release(); the lease is empty at once;
//                                       | also of a lease_set
//   client::async_open(url, o, token)   | (error_code, client): as open()
//   client.async_holders(name, token)   | (error_code, std::vector<holder>): as holders()
//   client.async_list(prefix, token)    | (error_code, std::vector<holder>): as list()
//   client.async_break_lock(n, h, t)    | (error_code, bool): as break_lock()
//   client.async_diagnose(token)        | (error_code, std::vector<finding>): as diagnose()
//   client.async_close(token)           | (error_code, bool): as close()
//
// o, options  may be left out; copied before the call returns, as names and URLs are
// token       a completion token; default: the call is awaitable, as with
//             boost::asio::use_awaitable
//
// The errors are those of the blocking member, with these differences:
//   errc::canceled     the operation's cancellation slot ended the wait of async_acquire,
//                      async_acquire_shared, async_acquire_all, async_campaign, async_open or
//                      async_wait_lost. A try_ verb that is cancelled is busy: no error, no lease.
//   errc::not_held     of async_wait_lost: the lease is empty, or was released before it was lost
//   errc::forked       of async_wait_lost: the lease was made before fork(), and this is the child
//   errc::unavailable  of async_open and async_close also: no thread can be started. async_close
//                      has no other error.
// An error_code has no text of its own: why async_open failed, and at which URL, is in the log, as
// a warning (log.hpp).
// The error_code is Boost's; a std::error_code takes it as it is. It compares with holdfast::errc,
// holdfast::outcome and std::errc; on success it equals error_code{}.
//
// No call blocks. The handler runs on its associated executor, never on a thread of the library and
// never inside the call. A cancellation never ends a held lease: if the lock was granted first, the
// operation completes with the lease. The lock or lease must live until the operation has begun,
// the context until it has completed; when the context ends first, a lock that is granted later is
// released. Thread safety is that of the blocking members.
#pragma once
#include <holdfast/detail/asio_client.hpp>
#include <holdfast/detail/asio_election.hpp>
#include <holdfast/detail/asio_lease.hpp>
#include <holdfast/detail/asio_multi.hpp>
#include <holdfast/mutex.hpp>
#include <holdfast/recursive_mutex.hpp>
#include <holdfast/semaphore.hpp>
#include <holdfast/shared_mutex.hpp>
