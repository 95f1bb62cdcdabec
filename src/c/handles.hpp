// What the handles of the C API point to, and how its structures of options are read.
#pragma once
#include <holdfast/holdfast.h>
#include <holdfast/client.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/log.hpp>

#include <cstring>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "c/report.hpp"

namespace holdfast::c {

// Passes log lines on to a hook of the C API.
struct log_lines {
  holdfast_log_hook hook;
  void* context;

  // A log_hook, whose context is a log_lines.
  static void pass_on(log_level, std::string_view line, void* lines) noexcept;
};

}  // namespace holdfast::c

struct holdfast_client {
  // Before the client, which may log until its last lease has gone.
  std::shared_ptr<holdfast::c::log_lines> log;
  holdfast::client client{};
  std::string url{};
};

struct holdfast_stop {
  std::stop_source source;
};

namespace holdfast::c {

struct loss_callback {
  void (*function)(void*);
  void* context;
  void operator()() const { function(context); }
};

// The client of a handle; an empty one, with which every call fails, for null.
inline const client& client_of(const holdfast_client* c) {
  static const holdfast::client none;
  return c ? c->client : none;
}

// A copy of the caller's structure, whose members that the caller does not know are zero.
template <class Options>
Options read_options(const Options* given, const char* operation) {
  Options all{};
  if (!given) return all;
  const std::size_t size = given->size;
  if (size < sizeof(std::size_t))
    refuse_option(operation, "options->size is not set; set it to sizeof(*options)");
  if (size > sizeof(Options))
    refuse_option(operation, "options->size is " + std::to_string(size) + " and not at most " +
                                 std::to_string(sizeof(Options)) +
                                 "; use a library that is not older than the header");
  std::memcpy(&all, given, size);
  return all;
}

}  // namespace holdfast::c

struct holdfast_lease {
  std::shared_ptr<holdfast::c::log_lines> log;
  std::string name, owner;
  holdfast::lease lease{};
  std::optional<std::stop_callback<holdfast::c::loss_callback>> on_loss{};
};
