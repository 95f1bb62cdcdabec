#include "history/recording.hpp"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace holdfast::history {
namespace {

using base::recorded_name;
using base::recording_header;

std::int64_t now_of(clockid_t clock) noexcept {
  timespec t;
  ::clock_gettime(clock, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

template <class T>
T copy_of(std::string_view bytes, std::size_t at) noexcept {
  T out;
  std::memcpy(static_cast<void*>(&out), bytes.data() + at, sizeof out);
  return out;
}

template <std::size_t N>
std::string text_of(const std::array<char, N>& from) {
  return {from.data(), ::strnlen(from.data(), N)};
}

// Empty, or why the file cannot be read.
std::string fault_of(std::string_view bytes, const recording_header& h) {
  if (h.magic != base::recording_magic) return "it is not a recording";
  if (h.version != base::recording_version)
    return "it has version " + std::to_string(h.version) + ", and this program reads version " +
           std::to_string(base::recording_version) + "; use the holdfast of the program's version";
  const bool is_sound = h.header_bytes >= sizeof h && h.header_bytes % 8 == 0 &&
                        h.header_bytes <= 65536 && h.name_bytes >= 1024 && h.name_bytes % 8 == 0 &&
                        h.name_bytes <= 1u << 28 && h.events > 0 && h.events <= 1u << 24 &&
                        h.event_bytes == sizeof(recorded_event) &&
                        (h.clock == recorded_clock::boottime || h.clock == recorded_clock::coarse);
  if (!is_sound) return "its header is damaged";
  const std::size_t size =
      std::size_t{h.header_bytes} + h.name_bytes + std::size_t{h.events} * sizeof(recorded_event);
  if (bytes.size() < size) return "it is cut short";
  return {};
}

class reader {
 public:
  reader(std::string_view bytes, const recording_header& header, const moment& until)
      : names_(bytes.substr(header.header_bytes, header.name_bytes)),
        events_(bytes.substr(header.header_bytes + header.name_bytes)),
        header_(header),
        until_(until) {}

  client_recording read() {
    client_recording out;
    out.pid = header_.pid;
    out.process_start = header_.process_start;
    out.pid_namespace = header_.pid_namespace;
    out.boot = text_of(header_.boot);
    out.program = text_of(header_.program);
    out.store = text_of(header_.store);
    out.opened = header_.opened;
    out.is_coarse = header_.clock == recorded_clock::coarse;
    out.is_closed = header_.closed != 0;
    const std::uint64_t first =
        header_.appended > header_.events ? header_.appended - header_.events : 0;
    out.overwritten = first;
    for (std::uint64_t at = first; at < header_.appended; ++at) read_event(at, out);
    return out;
  }

 private:
  void read_event(std::uint64_t at, client_recording& out) {
    const std::size_t place = at % header_.events * sizeof(recorded_event);
    client_event e{copy_of<recorded_event>(events_, place)};
    if (e.sequence != at + 1 || e.checksum != e.sum_as(e.sequence)) {
      ++out.torn;
      return;
    }
    if (out.is_coarse) {
      const std::int64_t ahead = until_.boottime - until_.monotonic;
      e.time += ahead;
      if (e.since != 0) e.since += ahead;
    }
    if (e.time > until_.boottime) return;
    e.lock = lock_of(e.name, out);
    out.events.push_back(e);
  }

  std::size_t lock_of(std::uint64_t position, client_recording& out) {
    const auto [known, is_new] = locks_.try_emplace(position, client_event::unknown_lock);
    if (!is_new) return known->second;
    const std::uint64_t place = position % header_.name_bytes;
    if (place % 8 != 0 || place + sizeof(recorded_name) > names_.size()) return known->second;
    const auto entry = copy_of<recorded_name>(names_, place);
    const std::size_t text = place + sizeof(recorded_name);
    if (entry.position != position || entry.bytes > names_.size() - text) return known->second;
    recorded_lock lock{std::string(names_.substr(text, entry.bytes)), entry.total_permits,
                       entry.lock_store};
    const auto same = std::ranges::find(out.locks, lock);
    known->second = static_cast<std::size_t>(same - out.locks.begin());
    if (same == out.locks.end()) out.locks.push_back(std::move(lock));
    return known->second;
  }

  const std::string_view names_, events_;
  const recording_header& header_;
  const moment& until_;
  std::map<std::uint64_t, std::size_t> locks_;  // by position
};

}  // namespace

// A coarse event of this moment is in the past of all three.
moment moment::now() noexcept {
  moment out;
  out.wall = now_of(CLOCK_REALTIME);
  out.boottime = now_of(CLOCK_BOOTTIME);
  out.monotonic = now_of(CLOCK_MONOTONIC);
  return out;
}

client_recording parse_recording(std::string_view bytes, const moment& until, std::string& why) {
  if (bytes.size() < sizeof(recording_header)) {
    why = "it is not a recording";
    return {};
  }
  const auto header = copy_of<recording_header>(bytes, 0);
  why = fault_of(bytes, header);
  if (!why.empty()) return {};
  return reader(bytes, header, until).read();
}

}  // namespace holdfast::history
