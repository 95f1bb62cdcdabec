#include "base/recording.hpp"

#include <algorithm>
#include <cstring>

namespace holdfast::base {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;
constexpr std::size_t page = 4096;

std::atomic_ref<std::uint64_t> atomic(std::uint64_t& word) noexcept {
  return std::atomic_ref<std::uint64_t>(word);
}

constexpr std::uint64_t size_of_name(std::size_t bytes) noexcept {
  return (sizeof(recorded_name) + bytes + 7) / 8 * 8;
}

template <class Word>
void put(Word& to, Word value) noexcept {
  std::atomic_ref<Word>(to).store(value, relaxed);
}

}  // namespace

std::size_t recording::bytes_for(std::uint32_t events) noexcept {
  return page + recorded_name_bytes + events * sizeof(recorded_event);
}

recording::recording(std::span<std::byte> memory, const recording_header& header,
                     std::uint32_t events) noexcept
    : header_(*reinterpret_cast<recording_header*>(memory.data())),
      names_(memory.data() + page),
      events_(reinterpret_cast<recorded_event*>(names_ + recorded_name_bytes)),
      mask_(events - 1),
      is_coarse_(header.clock == recorded_clock::coarse),
      began_(is_coarse_ ? header.opened_coarse : header.opened) {
  recording_header complete = header;
  complete.header_bytes = page;
  complete.name_bytes = recorded_name_bytes;
  complete.events = events;
  complete.event_bytes = sizeof(recorded_event);
  complete.names_end = 8;  // position 0 means that there is no name
  header_ = complete;
}

// Word by word: a thread that was preempted here may meet another one that is a whole ring ahead.
// The checksum then finds the mixture.
void recording::append(const recorded_event& e) noexcept {
  if (generation_ != fork_generation()) return;
  const std::uint64_t before = atomic(header_.appended).fetch_add(1, relaxed);
  recorded_event& to = events_[before & mask_];
  put(to.sequence, before + 1);
  put(to.time, e.time);
  put(to.since, e.since);
  put(to.deadline, e.deadline);
  put(to.token, e.token);
  put(to.name, e.name);
  put(to.details, e.details);
  put(to.checksum, e.sum_as(before + 1));
}

std::uint64_t recording::position_of(std::uint64_t known, std::string_view name,
                                     const recorded_name& facts) noexcept {
  if (generation_ != fork_generation()) return 0;
  const std::uint64_t end = atomic(header_.names_end).load(relaxed);
  if (known != 0 && end - known <= recorded_name_bytes / 2) return known;
  return store_name(name, facts);
}

std::uint64_t recording::store_name(std::string_view name, const recorded_name& facts) noexcept {
  const std::uint64_t size = size_of_name(name.size());
  std::uint64_t end = atomic(header_.names_end).load(relaxed);
  std::uint64_t at;
  do {
    const std::uint64_t left = recorded_name_bytes - end % recorded_name_bytes;
    at = left < size ? end + left : end;  // in one piece
  } while (!atomic(header_.names_end).compare_exchange_weak(end, at + size, relaxed));
  auto& entry = *reinterpret_cast<recorded_name*>(names_ + at % recorded_name_bytes);
  auto* text = reinterpret_cast<std::uint64_t*>(&entry + 1);
  for (std::size_t i = 0; i < name.size(); i += sizeof *text) {
    std::uint64_t word = 0;
    std::memcpy(&word, name.data() + i, std::min(sizeof word, name.size() - i));
    put(*text++, word);
  }
  put(entry.total_permits, facts.total_permits);
  put(entry.lock_store, facts.lock_store);
  put(entry.bytes, static_cast<std::uint16_t>(name.size()));
  put(entry.position, at);
  return at;
}

bool recording::admits(time_point now, std::atomic<time_point>& next) noexcept {
  time_point due = next.load(relaxed);
  return now >= due && next.compare_exchange_strong(due, now + std::chrono::seconds{1}, relaxed);
}

void recording::mark_closed() noexcept {
  if (generation_ == fork_generation()) atomic(header_.closed).store(1, relaxed);
}

}  // namespace holdfast::base
