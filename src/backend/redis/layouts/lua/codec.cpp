#include "backend/redis/layouts/lua/codec.hpp"

#include "backend/redis/server_time.hpp"

namespace holdfast::redis::lua {

namespace {

constexpr core::capabilities abilities{
    .life = core::bound_to::ttl,
    .queue = core::order::none,
    .wanted = core::wanted_by::silent,
    .modes = core::bit_of(lock_mode::exclusive),
    .tokens = false,
    .processes = true,
    .breakable = true,
};

constexpr retrying_recipe::rules polling{};

// So that no other layout takes an owner of this one for its own.
constexpr std::string_view owner_prefix = "hfl:";

const script& script_of(script_name name) noexcept {
  return all_scripts()[static_cast<std::size_t>(name)];
}

}  // namespace

const core::capabilities& codec::can() const noexcept { return abilities; }

const retrying_recipe::rules& codec::rules() const noexcept { return polling; }

std::span<const script> codec::scripts() const noexcept { return all_scripts(); }

layout_needs codec::needs() const noexcept {
  static constexpr required_command commands[] = {
      {"setnx", "SETNX k v"}, {"get", "GET k"},           {"del", "DEL k"},
      {"pttl", "PTTL k"},     {"pexpire", "PEXPIRE k 1"}, {"scan", "SCAN 0", needed_for::looking},
  };
  return {.commands = commands};
}

void codec::append(command_writer& out, retrying_operation what, const lock_request& r) const {
  using operation = retrying_operation;
  switch (what) {
    case operation::try_lock:
    case operation::resolve: {
      const bool tries = what == operation::try_lock;
      const script& s = script_of(tries ? script_name::try_lock : script_name::resolve);
      out.call(s, 1, 2) << r.key << r.owner << in_ms(r.ttl);
      return;
    }
    case operation::release:
    case operation::withdraw:
      out.call(script_of(script_name::release), 1, 1) << r.key << r.owner;
      return;
    case operation::subscribe:
    case operation::renew:
    case operation::downgrade:
    case operation::none: return;
  }
}

void codec::append_renewals(command_writer& out, std::span<const lock_request> all) const {
  append_renewals_by(script_of(script_name::renew), out, all);
}

void codec::append_look(std::string& out, std::string_view key) const {
  command(out, 4) << "EVAL" << script_of(script_name::holder).text << std::int64_t{1} << key;
}

void codec::append_break(std::string& out, std::string_view key, std::string_view seen) const {
  command(out, 5) << "EVAL" << script_of(script_name::release).text << std::int64_t{1} << key
                  << seen;
}

std::vector<holder> codec::read_look(const value& v) const { return read_one_holder(v); }

std::string codec::text_of(const retrying_owner& o) const {
  return std::string(owner_prefix) + hex_of(o);
}

bool codec::is_owner(std::string_view text) const noexcept {
  return text.starts_with(owner_prefix);
}

}  // namespace holdfast::redis::lua
