// Forward declarations of the public types, for headers that only refer to them.
// holdfast/holdfast.hpp is the library itself.
#pragma once
#include <holdfast/detail/export.hpp>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

enum class errc;
enum class outcome;
enum class finding_grade : unsigned char;
enum class lock_kind : unsigned char;
enum class lock_mode : unsigned char;
enum class log_level : unsigned char;
enum class reader_tokens : unsigned char;
enum class renewal : unsigned char;
struct acquire_options;
struct open_options;
struct features;
struct finding;
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
template <class T>
class guarded;
class client;
class election;
class fence;
class fencing_guard;
class redis_guard;
class zookeeper_guard;
class mysql_connection;
class mysql_guard;
class optimistic_table;
class draft_table;

}  // namespace v0
}  // namespace holdfast
