// Where the library's log lines go.
#pragma once
#include <holdfast/detail/export.hpp>

#include <string_view>

namespace holdfast {
inline namespace HOLDFAST_API v0 {

// `info` is for lines that an operator rarely needs; the default hook leaves them out.
enum class log_level : unsigned char { info, warning, error };

// A function of the program that receives the library's log lines.
//
// line     one line of text without a newline; it never contains a secret
// context  the pointer that was given to set_log_hook(), or open_options::log_context
// The library calls it from any thread, also from several at once, and holds none of its locks
// meanwhile. The hook must neither throw nor use the library.
using log_hook = void (*)(log_level, std::string_view line, void* context);

// Sets the log hook of the process, which receives the lines of every client that has no hook of
// its own (open_options::log). Warnings are: a lost connection, each minute of an outage and its
// end, one line `lease "NAME" at URL: ...` for each lease that becomes doubtful or is lost, a
// release that failed after its unlock() had returned, why an async_open() failed, a directory that
// was created, and a layout that is a demonstration. Errors are: the end of a locked lock object,
// and a lack of memory or threads that delays notices.
//
// hook     default: warnings and errors go to standard error, each with the prefix "holdfast: ";
//          nullptr silences everything
// context  passed to each call of the hook; default: nullptr
// Safe to call from any thread. A call of the old hook that is in progress may still finish after
// this returns. Each call of set_log_hook() uses a few bytes for the rest of the process.
HOLDFAST_API void set_log_hook(log_hook hook, void* context = nullptr) noexcept;

}  // namespace v0
}  // namespace holdfast
