// The C API of holdfast: leases on named locks, for C99 and for other languages.
//
// A program opens a client, acquires leases from it, and frees both. Every object is an opaque
// handle that this library makes and frees.
//
//   holdfast_client *client = NULL;
//   holdfast_lease *lease = NULL;
//   holdfast_error *error = NULL;
//   if (!holdfast_client_open("redis://localhost", NULL, &client, &error) &&
//       !holdfast_acquire(client, "nightly", NULL, &lease, &error))
//     run_nightly_job(holdfast_lease_token(lease));
//   if (error) fprintf(stderr, "%s\n", holdfast_error_message(error));
//   holdfast_error_free(error);
//   holdfast_lease_free(lease);
//   holdfast_client_free(client);
//
// Results. A function that can fail returns a holdfast_errc, which is 0 (HOLDFAST_OK) on success.
// A handle that it would have returned through a pointer is then NULL. No C++ exception leaves a
// function.
//
// Errors. The last parameter of such a function is a holdfast_error**. It may be NULL. Otherwise it
// is set to NULL on success and to a new holdfast_error on failure, which the caller frees. A lack
// of memory is HOLDFAST_UNAVAILABLE.
//
// Strings are UTF-8 and end with a zero byte. Strings that are passed in are copied before the
// function returns.
//
// Structures of options begin with their size. Set it, and only the members that you need; 0 and
// NULL select the default:
//
//   holdfast_acquire_options options = {.size = sizeof options, .ttl_ms = 10000};
//
// Threads. Every function may be called from any thread, and all of them on the same client at
// once. There are two exceptions: no other call may use an object while it is freed, and calls on
// one lease may overlap only as stated before holdfast_lease_held().
//
// fork(). A client, a lease or a stop of the parent is of no use in the child: what needs a store
// fails with HOLDFAST_FORKED, held and in_doubt are 0 and 1, and the parent keeps its locks. The
// child may free them, and open a client of its own.
//
// The C++ headers have the same functions under the same names, with all the detail: client.hpp,
// lockable.hpp, lease.hpp, options.hpp and error.hpp.
#pragma once
#include <stddef.h>
#include <stdint.h>

// What a shared library of holdfast exports; CMake and pkg-config define HOLDFAST_STATIC for a
// static one.
#ifdef HOLDFAST_STATIC
#define HOLDFAST_C_API
#else
#define HOLDFAST_C_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

// The codes of errors, equal to holdfast::errc; error.hpp describes each.
typedef enum holdfast_errc {
  HOLDFAST_OK = 0,
  HOLDFAST_TIMED_OUT = 1,  // busy: another holder had the lock until the time to wait had passed
  HOLDFAST_CANCELED = 2,   // busy: the wait was ended by a holdfast_stop
  HOLDFAST_LOST = 3,       // the lease expired or was taken away
  HOLDFAST_NOT_HELD = 4,   // the lease is NULL or was released
  HOLDFAST_WOULD_SELF_DEADLOCK = 5,  // of the C++ API only
  HOLDFAST_UNAVAILABLE = 6,          // the store is out of reach; or no memory, or no thread
  HOLDFAST_OUTCOME_UNKNOWN = 7,      // no reply shows whether a request took effect
  HOLDFAST_REFUSED = 8,              // the server or the file system denied it
  HOLDFAST_UNSUPPORTED = 9,          // the store, the layout or this build cannot do it
  HOLDFAST_BAD_URL = 10,             // the URL is malformed
  HOLDFAST_BAD_NAME = 11,            // the name of the lock is malformed
  HOLDFAST_BAD_OPTION = 12,          // an option is unknown or out of range
  HOLDFAST_MISMATCH = 13,            // the name is in use for another kind of lock
  HOLDFAST_FORKED = 14,              // the object was made before fork(), and this is the child
  HOLDFAST_CLOSED = 15,              // the client is NULL or was closed
  HOLDFAST_EXHAUSTED = 16,           // a range of numbers of the store is used up
  HOLDFAST_NO_QUORUM = 17            // redlock: too few servers can be reached, or may vote
} holdfast_errc;

// The groups of codes, equal to holdfast::outcome; the table in docs/errors.md lists them.
typedef enum holdfast_outcome {
  HOLDFAST_GROUP_NONE = 0,         // of HOLDFAST_OK and of unknown codes
  HOLDFAST_GROUP_BUSY = 1,         // another holder has the lock
  HOLDFAST_GROUP_UNAVAILABLE = 2,  // the store cannot grant or confirm
  HOLDFAST_GROUP_LOST = 3,         // the lease or the client has ended
  HOLDFAST_GROUP_USAGE = 4         // the program or its configuration is wrong
} holdfast_outcome;

// The kind of lock, and the mode in which a lease holds it. All programs use a name for one kind.
typedef enum holdfast_mode {
  HOLDFAST_MUTEX = 0,      // one holder
  HOLDFAST_SHARED = 1,     // of a lock with readers and writers: any number of readers
  HOLDFAST_EXCLUSIVE = 2,  // of a lock with readers and writers: one writer
  HOLDFAST_PERMIT = 3      // some of a semaphore's permits
} holdfast_mode;

// The renewal of a lease, as holdfast::renewal.
typedef enum holdfast_renewal {
  HOLDFAST_RENEW_DEFAULT = 0,    // ?renew= of the URL, else automatic
  HOLDFAST_RENEW_AUTOMATIC = 1,  // the library renews the lease until it is released
  HOLDFAST_RENEW_MANUAL = 2      // only holdfast_lease_extend() renews it
} holdfast_renewal;

typedef enum holdfast_log_level {
  HOLDFAST_LOG_INFO = 0,
  HOLDFAST_LOG_WARNING = 1,
  HOLDFAST_LOG_ERROR = 2
} holdfast_log_level;

typedef struct holdfast_client holdfast_client;
typedef struct holdfast_lease holdfast_lease;
typedef struct holdfast_error holdfast_error;
typedef struct holdfast_stop holdfast_stop;

// Receives log lines, each without a newline and without secrets. The library calls it from any
// thread, and from several at once. It must not call this library.
typedef void (*holdfast_log_hook)(holdfast_log_level level, const char* line, void* context);

// The version of the library that runs, for example "0.1.0". A library that was built from a commit
// without a release tag appends the commit: "0.1.0+12.g1234567" is 12 commits after the release,
// and "0.1.0~dev787.g1234567" before it. Never NULL.
HOLDFAST_C_API const char* holdfast_version(void);

// Sets the log hook of the process.
//
// hook     NULL silences the library; before the first call, warnings and errors go to standard
//          error
// context  passed to each call of the hook
// Each call uses a few bytes for the rest of the process.
HOLDFAST_C_API void holdfast_set_log_hook(holdfast_log_hook hook, void* context);

// The code of an error; HOLDFAST_OK of NULL.
HOLDFAST_C_API holdfast_errc holdfast_error_code(const holdfast_error* error);
// One sentence: the operation, the lock, the store without its secrets, the reason and the remedy.
// Valid until the error is freed; "" of NULL.
HOLDFAST_C_API const char* holdfast_error_message(const holdfast_error* error);
// Frees an error; NULL is allowed.
HOLDFAST_C_API void holdfast_error_free(holdfast_error* error);
// The name of a code as in C++, for example "timed_out"; "ok" of 0, "unknown" of any other number.
HOLDFAST_C_API const char* holdfast_errc_name(int code);
// The group of a code.
HOLDFAST_C_API holdfast_outcome holdfast_errc_group(int code);

// The options of holdfast_client_open(). They override those of the URL.
typedef struct holdfast_open_options {
  size_t size;            // sizeof(holdfast_open_options)
  const char* password;   // NULL: that of the URL
  int64_t ttl_ms;         // as ?ttl= in milliseconds; 0: that of the URL
  int64_t grace_ms;       // as ?grace= in milliseconds; 0: that of the URL
  holdfast_log_hook log;  // the log lines of this client; NULL: to the hook of the process
  void* log_context;      // passed to each call of log
} holdfast_open_options;

// Opens the store of a URL and checks that it can be used.
//
// url      docs/options.md lists the options; NULL: $HOLDFAST_URL
// options  NULL: the options of the URL
// client   receives the client; free it with holdfast_client_free()
// HOLDFAST_BAD_URL      the URL is malformed, its scheme is unknown, or $HOLDFAST_URL is not set
// HOLDFAST_BAD_OPTION   an option is unknown or out of range, or options->size is wrong
// HOLDFAST_UNSUPPORTED  this build has no such backend
// HOLDFAST_UNAVAILABLE  the server cannot be reached, or does not reply in time
// HOLDFAST_REFUSED      the server refuses the user or the password, or the directory is not safe
// Blocks at most ?op-timeout= (default 5 s).
HOLDFAST_C_API holdfast_errc holdfast_client_open(const char* url,
                                                  const holdfast_open_options* options,
                                                  holdfast_client** client, holdfast_error** error);

// The URL of the client without secrets. Valid until the client is freed; "" of NULL.
HOLDFAST_C_API const char* holdfast_client_url(const holdfast_client* client);

// Ends every wait of the client with HOLDFAST_CLOSED and every lease, and releases their locks.
//
// Returns 1 when nothing of this client is left in the store, else 0.
// Blocks until the store has replied, at most ?close-timeout= (default 2 s). Other threads may
// still use the client; their calls fail with HOLDFAST_CLOSED.
HOLDFAST_C_API int holdfast_client_close(holdfast_client* client);

// Frees the client; NULL is allowed. Its leases stay valid, and the last of them closes the
// client: then that call blocks as holdfast_client_close() does.
HOLDFAST_C_API void holdfast_client_free(holdfast_client* client);

// Whether any holder has the lock now, this client included.
//
// held  receives 1 or 0
// HOLDFAST_BAD_NAME, HOLDFAST_UNAVAILABLE, HOLDFAST_REFUSED, HOLDFAST_CLOSED, HOLDFAST_FORKED
// Blocks until the store has replied, at most ?op-timeout=.
HOLDFAST_C_API holdfast_errc holdfast_is_held(const holdfast_client* client, const char* name,
                                              int* held, holdfast_error** error);

// Makes a stop, through which any thread can end waits. Returns NULL when there is no memory.
HOLDFAST_C_API holdfast_stop* holdfast_stop_new(void);
// Ends the waits that were given this stop, and those that will be; safe from any thread.
HOLDFAST_C_API void holdfast_stop_request(holdfast_stop* stop);
// Frees a stop; NULL is allowed. Waits that were given it go on.
HOLDFAST_C_API void holdfast_stop_free(holdfast_stop* stop);

// The options of one acquire.
typedef struct holdfast_acquire_options {
  size_t size;             // sizeof(holdfast_acquire_options)
  int mode;                // a holdfast_mode; default: HOLDFAST_MUTEX
  int renew;               // a holdfast_renewal; default: HOLDFAST_RENEW_DEFAULT
  uint32_t permits;        // HOLDFAST_PERMIT: the number of permits to acquire; 0: 1
  uint32_t total_permits;  // HOLDFAST_PERMIT: the semaphore's total, 1 to 1,000,000
  int64_t ttl_ms;          // 100 to 366 days; 0: the client's ttl (default 30 s)
  int64_t max_hold_ms;     // the longest time one holder may have the lock; 0: no limit
  const char* note;        // shown in lists of holders, at most 256 bytes; NULL: none
  holdfast_stop* stop;     // ends the wait; NULL: nothing ends it
} holdfast_acquire_options;

// Acquires a lock and returns the lease: the proof of holding it.
//
//   holdfast_acquire          waits until the lock is granted
//   holdfast_try_acquire      makes one attempt
//   holdfast_try_acquire_for  waits at most timeout_ms milliseconds; 0 or less: one attempt
//
// name     1 to 512 bytes of UTF-8 without control characters
// options  NULL: a mutex with the client's defaults
// lease    receives the lease; release it, then free it with holdfast_lease_free()
// HOLDFAST_TIMED_OUT    the lock was busy. Of the try functions only.
// HOLDFAST_CANCELED     the stop was requested. If that was before the call, one attempt is made.
// HOLDFAST_BAD_NAME     the name is not such a name
// HOLDFAST_BAD_OPTION   an option is out of range, or options->size is wrong
// HOLDFAST_UNSUPPORTED  the store has no such mode or renewal
// HOLDFAST_MISMATCH     the name is in use for another kind of lock or another number of permits
// HOLDFAST_UNAVAILABLE, HOLDFAST_NO_QUORUM  the store is out of reach. holdfast_acquire() waits
//                       through outages, unless the URL has ?outage-timeout=.
// HOLDFAST_REFUSED      the server or the file system denied it
// HOLDFAST_EXHAUSTED    a range of numbers of the store is used up
// HOLDFAST_CLOSED       the client is NULL, or was closed before or during the call
// HOLDFAST_FORKED       the client was opened before fork(), and this is the child
//
// A thread that acquires a mutex again while it has a lease of it waits for itself: leases belong
// to no thread, so this is not detected.
HOLDFAST_C_API holdfast_errc holdfast_acquire(const holdfast_client* client, const char* name,
                                              const holdfast_acquire_options* options,
                                              holdfast_lease** lease, holdfast_error** error);
HOLDFAST_C_API holdfast_errc holdfast_try_acquire(const holdfast_client* client, const char* name,
                                                  const holdfast_acquire_options* options,
                                                  holdfast_lease** lease, holdfast_error** error);
HOLDFAST_C_API holdfast_errc holdfast_try_acquire_for(const holdfast_client* client,
                                                      const char* name, int64_t timeout_ms,
                                                      const holdfast_acquire_options* options,
                                                      holdfast_lease** lease,
                                                      holdfast_error** error);

// Of the functions below, those that take a const lease may overlap on one lease. A call of any
// other must not overlap another call on the same lease. Any thread may release a lease.

// Whether the lock is held now: 1 or 0. Reads the clock, so the answer is exact at each call, even
// after a suspend; it is 0 before the store grants the lock to another client. 0 of NULL. Does not
// block.
HOLDFAST_C_API int holdfast_lease_held(const holdfast_lease* lease);
// Whether the lease is lost or may soon be, because a renewal is overdue: 1 or 0. 1 of NULL. Does
// not block.
HOLDFAST_C_API int holdfast_lease_in_doubt(const holdfast_lease* lease);
// HOLDFAST_OK while the lock is held, else the reason: HOLDFAST_LOST, HOLDFAST_NOT_HELD,
// HOLDFAST_CLOSED or HOLDFAST_FORKED. Does not block.
HOLDFAST_C_API holdfast_errc holdfast_lease_check(const holdfast_lease* lease,
                                                  holdfast_error** error);
// The fencing token: it grows with each grant of the lock. Pass it to the resource, and let the
// resource refuse smaller ones. 0 of NULL, after a release, and where the layout has no tokens.
HOLDFAST_C_API int64_t holdfast_lease_token(const holdfast_lease* lease);
// The name of the lock. Valid until the lease is freed; "" of NULL.
HOLDFAST_C_API const char* holdfast_lease_name(const holdfast_lease* lease);
// The id of this holder at the store, as `holdfast list` shows it. Valid until the lease is freed;
// "" of NULL and where the store has no ids.
HOLDFAST_C_API const char* holdfast_lease_owner(const holdfast_lease* lease);
// The milliseconds until the lease ends unless a renewal is confirmed first, rounded down. 0 when
// the lease is not held; INT64_MAX when it does not expire. Does not block.
HOLDFAST_C_API int64_t holdfast_lease_remaining_ms(const holdfast_lease* lease);

// Makes the lease run for ttl_ms from now.
//
// ttl_ms  100 to 366 days; it replaces the ttl of the acquire for later renewals too
// HOLDFAST_BAD_OPTION, HOLDFAST_LOST, HOLDFAST_NOT_HELD, HOLDFAST_FORKED, HOLDFAST_CLOSED,
// HOLDFAST_OUTCOME_UNKNOWN, HOLDFAST_UNSUPPORTED
// Blocks until the store replies, at most ?op-timeout=.
HOLDFAST_C_API holdfast_errc holdfast_lease_extend(holdfast_lease* lease, int64_t ttl_ms,
                                                   holdfast_error** error);

// Calls a function once when the lease is lost, no later than the next time that the process is
// scheduled after the deadline. A release is no loss.
//
// callback  runs on a thread of the library, or inside this call when the lease is lost already. A
//           slow callback delays the callbacks of other leases, but never a renewal. It must not
//           release or free this lease. NULL: none
// context   passed to the callback
// HOLDFAST_NOT_HELD  the lease is NULL or was released
// A second call replaces the callback. A release, and a second call, waits for a callback that
// runs; later none is called.
HOLDFAST_C_API holdfast_errc holdfast_lease_on_loss(holdfast_lease* lease,
                                                    void (*callback)(void* context), void* context,
                                                    holdfast_error** error);

// Releases the lock and reports whether it was held until now. The lease holds nothing afterwards,
// in every case; free it with holdfast_lease_free().
//
// HOLDFAST_LOST             the lease was lost before: the work may have overlapped another holder
// HOLDFAST_NOT_HELD         the lease is NULL, or was released before
// HOLDFAST_OUTCOME_UNKNOWN  no reply in time; the client repeats the release in the background
// HOLDFAST_CLOSED, HOLDFAST_FORKED
// Blocks until the store replies, at most ?op-timeout= (default 5 s).
HOLDFAST_C_API holdfast_errc holdfast_lease_release(holdfast_lease* lease, holdfast_error** error);

// Frees a lease; NULL is allowed. A lock that is still held is released without waiting for the
// reply, and a failure is logged.
HOLDFAST_C_API void holdfast_lease_free(holdfast_lease* lease);

#ifdef __cplusplus
}
#endif
