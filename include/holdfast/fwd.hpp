// Forward declarations of the public types. See holdfast.hpp for the library itself.
#pragma once
#include <holdfast/export.hpp>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

enum class errc;
enum class outcome;
enum class lock_mode : unsigned char;
enum class renewal : unsigned char;
struct acquire_options;
struct open_options;
struct holder;
struct lease_clock;
struct metrics;
class lock_error;
class url;
class lease;
class mutex;
class recursive_mutex;
class shared_mutex;
class semaphore;
class multi_mutex;
class lease_set;
class client;
class fencing_guard;
class redis_guard;

namespace detail {
struct acquire_call;
class async_answer;
class async_operation;
class async_multi_acquire;
class client_impl;
class lockable_base;
class local_lock;
class multi_access;
}  // namespace detail

}  // namespace v0

// No function that a program calls takes one of these: they are not exported.
inline namespace v0 {
namespace detail {
class multi_acquire;
class turn;
struct client_access;
struct lockable_state;
}  // namespace detail
}  // namespace v0
}  // namespace holdfast
