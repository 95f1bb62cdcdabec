// The types of namespace detail that public headers refer to. Not for users to name.
#pragma once
#include <holdfast/detail/export.hpp>

namespace holdfast {
inline namespace HOLDFAST_API v0 {
namespace detail {

struct acquire_call;
class async_answer;
class async_operation;
class async_multi_acquire;
class client_impl;
class election_access;
class lockable_base;
class local_lock;
class multi_access;

}  // namespace detail
}  // namespace v0

// No function that a program calls takes one of these, so they are not exported.
inline namespace v0 {
namespace detail {

class multi_acquire;
class turn;
struct client_access;
struct lockable_state;

}  // namespace detail
}  // namespace v0
}  // namespace holdfast
