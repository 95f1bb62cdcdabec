// A recording in the memory of a test.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/recording.hpp"
#include "history/recording.hpp"

namespace holdfast::history {

class recording_in_memory final : public base::recording {
  struct words {
    explicit words(std::uint32_t events) : all(bytes_for(events) / 8) {}
    std::vector<std::uint64_t> all;
    std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(all)); }
  };

 public:
  static constexpr std::uint32_t size = 64;  // events

  explicit recording_in_memory(std::int64_t pid = 1, std::string_view store = "redis://db")
      : recording_in_memory(std::make_unique<words>(size), pid, store) {}

  std::span<std::byte> bytes() { return memory_->bytes(); }
  base::recording_header& header() {
    return *reinterpret_cast<base::recording_header*>(bytes().data());
  }
  recorded_event& event(std::size_t slot) {
    return reinterpret_cast<recorded_event*>(bytes().data() + bytes_for(0))[slot];
  }
  client_recording read(std::int64_t until = 1'000'000'000'000) {
    std::string why;
    auto out = read(bytes(), why, until);
    if (!why.empty()) out.file = why;
    return out;
  }
  static client_recording read(std::span<const std::byte> from, std::string& why,
                               std::int64_t until = 1'000'000'000'000) {
    const std::string_view text(reinterpret_cast<const char*>(from.data()), from.size());
    return parse_recording(text, {.boottime = until, .monotonic = until, .wall = until}, why);
  }

  // An event of the lock `name`; of a semaphore with `total` permits.
  void add(recorded_event::kind what, std::int64_t time, std::string_view name = "x",
           recorded_event fields = {}, std::uint32_t total = 0) {
    fields.time = time;
    fields.name = position_of(0, name, {.total_permits = total});
    fields.details |= recorded_event::pack(what, 0, 0, 0);
    append(fields);
  }
  void grant(std::int64_t time, std::int64_t token, std::int64_t deadline = INT64_MAX) {
    add(recorded_event::kind::granted, time, "x", {.deadline = deadline, .token = token});
  }
  void end(std::int64_t time, std::int64_t since, std::int64_t token,
           recorded_event::ending how = recorded_event::ending::released) {
    add(recorded_event::kind::ended, time, "x",
        {.since = since,
         .deadline = INT64_MAX,
         .token = token,
         .details = recorded_event::pack({}, 0, static_cast<unsigned>(how), 0)});
  }

 private:
  recording_in_memory(std::unique_ptr<words> memory, std::int64_t pid, std::string_view store)
      : recording(memory->bytes(), header_of(pid, store), size), memory_(std::move(memory)) {}
  static base::recording_header header_of(std::int64_t pid, std::string_view store) {
    base::recording_header h;
    h.pid = pid;
    store.copy(h.store.data(), h.store.size() - 1);
    return h;
  }

  std::unique_ptr<words> memory_;
};

}  // namespace holdfast::history
