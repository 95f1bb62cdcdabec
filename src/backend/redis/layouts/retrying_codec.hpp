// What a layout adds to the retrying recipe: the bytes of its requests, and what its replies mean.
// Pure: no socket, no clock, no claim.
#pragma once
#include <holdfast/holder.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "backend/redis/examination/required_command.hpp"
#include "backend/redis/recipes/retrying.hpp"
#include "backend/redis/transport/request_writer.hpp"
#include "seam/capabilities.hpp"

namespace holdfast::redis {

struct lock_request {  // the arguments of a request for one lock
  std::string_view key, owner;
  duration ttl{};
  std::uint8_t step = 0;  // of an attempt that has several commands
};

class retrying_codec {
 public:
  virtual ~retrying_codec() = default;
  virtual const core::capabilities& can() const noexcept = 0;
  virtual const retrying_recipe::rules& rules() const noexcept = 0;
  // Loaded when a connection is ready, so that calls by their hash succeed.
  virtual std::span<const script> scripts() const noexcept = 0;
  // The first four bytes of this layout's owners, so that no other layout takes one for its own.
  virtual std::string_view owner_prefix() const noexcept = 0;

  // For an operator's examination.
  virtual layout_needs needs() const noexcept { return {}; }

  // Appends one request, which has one reply. Not for renewals.
  virtual void append(command_writer&, retrying_operation, const lock_request&) const = 0;
  // `r` carries what is known from the request.
  virtual retrying_reply read(const value&, retrying_reply r) const = 0;
  // Renewals of many locks, one request.
  virtual void append_renewals(command_writer&, std::span<const lock_request>) const = 0;
  // The reply to the one at `index` of them.
  virtual retrying_reply read_renewal(const value&, std::size_t index, retrying_reply r) const = 0;
  // For an operator: reads the holder, and releases the lock of the owner that was seen. One
  // request each, with the text of its script. The holder without its name; nothing: nobody.
  virtual void append_look(std::string& out, std::string_view key) const = 0;
  virtual void append_break(std::string& out, std::string_view key,
                            std::string_view seen) const = 0;
  virtual std::optional<holder> read_look(const value&) const = 0;
};

}  // namespace holdfast::redis
