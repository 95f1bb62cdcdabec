// Where the library's warnings go.
#pragma once
#include <holdfast/export.hpp>

#include <string_view>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

enum class log_level : unsigned char { debug, info, warning, error };

// Called with one line of text without a newline and never with a secret in it. May be called from
// any thread, also from several at once, with no lock of the library held; must neither throw nor
// use the library.
using log_hook = void (*)(log_level, std::string_view line, void* context);

// Warnings are, among others: a connection that is lost, each minute of an outage, the end of one,
// and for each lease that comes into doubt or is lost one line, `lease "NAME" at URL: ...`.

// Sets the hook of the process. Default: warnings and errors go to standard error, each prefixed
// with "holdfast: "; nullptr silences everything. Safe from any thread; a call that is under way
// with the old hook may still finish after this returns. Each call keeps a few bytes for good.
HOLDFAST_API void set_log_hook(log_hook hook, void* context = nullptr) noexcept;

}  // namespace v0
}  // namespace holdfast
