// The history of a run: what every participant requested of every lock, and the answers.
//
// One record a line, eight fields or nine with one space between them:
//
//   process lock operation call return result token deadline [how]
//
//   process    who asked: one that does one thing after another, such as "412.7" for thread 7 of
//              process 412, which dies with a kill of "412". Percent-encoded
//   lock       its name, percent-encoded: all bytes but letters, digits and - . _ ~ / : @ are %XX
//   operation  acquire renew release check write kill downgrade notice
//   call       when it was called and when it returned, nanoseconds of CLOCK_BOOTTIME; so histories
//   return     of one machine can be put together whatever process wrote them
//   result     ok       granted, renewed, released, still held, accepted by the guarded resource
//              refused  the store or the guarded resource said no
//              busy     another holds the lock, or the time given passed
//              unknown  it may have taken effect or not; of a check: the lease is in doubt
//              lost     the lease is not this process's any more
//   token      the fencing token, 0 when there is none
//   deadline   when the lease runs out if nothing renews it, nanoseconds as above; "-" for never
//   how        of an acquire that is not for the lock alone: "shared", or "2/5" for two of a
//              semaphore's five permits; of a write that a run plants after a release: "planted"
//
// A `kill` is written by the killer: process is the one it killed, lock is "-" alone, call is the
// time before the signal and return the time the process was seen to be dead.
//
// A `notice` is the time at which the library requested lease::loss_token(). A thread of the
// library writes it, so it is not one of the process's calls.
//
// Lines that begin with '#' are remarks. Lines stand in no particular order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::history {

enum class operation : unsigned char {
  acquire,
  renew,
  release,
  check,
  write,
  kill,
  downgrade,
  notice
};
enum class result : unsigned char { ok, refused, busy, unknown, lost };

inline constexpr std::int64_t no_deadline = INT64_MAX;

struct record {
  std::string process, lock;
  operation what = operation::acquire;
  std::int64_t call = 0, back = 0;  // `back` is the field "return"
  result outcome = result::ok;
  std::int64_t token = 0;
  std::int64_t deadline = no_deadline;
  bool shared = false;
  std::uint32_t permits = 0, of = 0;  // of a semaphore
  bool planted = false;               // a write after the release
  std::size_t line = 0;               // where it was read, counted from 1; 0: not from a file

  bool operator==(const record& other) const noexcept;  // but for the line
};

std::int64_t history_now() noexcept;  // CLOCK_BOOTTIME, in nanoseconds

std::string to_line(const record&);  // without the newline
std::string encode(std::string_view text);

// Names the malformed line of a history, and its fault.
class malformed_history : public std::runtime_error {
 public:
  malformed_history(std::size_t line, const std::string& why);
  std::size_t line() const noexcept { return line_; }

 private:
  std::size_t line_;
};

// Throws malformed_history. `line` is for the message and record::line.
record parse_line(std::string_view text, std::size_t line = 0);

struct history_file {
  std::vector<record> records;
  bool torn = false;  // the last line has no end: its writer was killed in the middle; left out
};

history_file parse_history(std::string_view text);   // throws malformed_history
history_file read_history(const std::string& path);  // and std::system_error

// Appends records to a file. One write per record in append mode: any number of threads and
// processes may write to one file, and what was written outlives a SIGKILL of its writer. Only a
// record that a SIGKILL cuts in two is lost; let those that will be killed write files of their
// own, so that it is the last line of its file.
class history_writer {
 public:
  explicit history_writer(const std::string& path);  // throws std::system_error
  ~history_writer();
  history_writer(const history_writer&) = delete;
  history_writer& operator=(const history_writer&) = delete;

  void add(const record&);               // throws std::system_error
  void remark(const std::string& text);  // one line; the same

 private:
  void write_line(const std::string&);

  int file_;
};

}  // namespace holdfast::history
