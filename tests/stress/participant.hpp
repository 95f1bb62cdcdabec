// Participants of a stress run: their work under a lock.
#pragma once
#include <holdfast/holdfast.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "history/history.hpp"
#include "testkit/participant.hpp"

namespace stress {

inline constexpr std::size_t lock_count = 3;
std::string lock_name(std::size_t);

// The resource that the locks guard: it accepts no token below the largest it has seen. Lies in
// memory that the participants share.
class guarded_resource {
 public:
  bool write(std::size_t lock, std::int64_t token) noexcept;

 private:
  std::array<std::atomic<std::int64_t>, lock_count> last_{};
};

struct habits {
  std::chrono::microseconds longest_work{2000};
  std::chrono::milliseconds longest_wait{50};  // of those waits that have a bound
};

class participant : public holdfast::testkit::participant {
 public:
  // The references outlive it.
  participant(std::string process, holdfast::history::history_writer&, guarded_resource&, habits,
              std::uint64_t seed);

 protected:
  using record = holdfast::history::record;
  using operation = holdfast::history::operation;

  void work() { holdfast::testkit::participant::work(habits_.longest_work); }
  void write_under(std::size_t lock, const holdfast::lease&);

  std::chrono::milliseconds wait_limit();

 private:
  guarded_resource& resource_;
  const habits habits_;
};

// Makes a participant for a client.
using casting =
    std::function<std::unique_ptr<participant>(const holdfast::client&, std::string process,
                                               holdfast::history::history_writer&,
                                               guarded_resource&, std::uint64_t seed)>;

template <class Participant>
casting cast_of(habits h = {}) {
  return [h](const holdfast::client& c, std::string process, auto& history, auto& resource,
             std::uint64_t seed) {
    return std::make_unique<Participant>(c, std::move(process), history, resource, h, seed);
  };
}

}  // namespace stress
