#include "backend/redis/layouts/lua/codec.hpp"

#include "backend/redis/server_time.hpp"

namespace holdfast::redis::lua {

using verdict = retrying_reply::verdict;

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

retrying_reply codec::read(const value& v, const lock_request&, retrying_reply r) const {
  if (v.is(value::kind::error)) return refused_by(v.text(), own_errors(), r);
  const bool asks = r.to == retrying_operation::try_lock || r.to == retrying_operation::resolve;
  if (!asks) return compared(v, r);
  if (!v.is(value::kind::array)) return unreadable(r);
  r.what = v[0].integer() == 1 ? verdict::granted : verdict::busy;
  if (v.size() > 1) r.rest = span_of(v[1].integer());
  return r;
}

void codec::append_renewals(command_writer& out, std::span<const lock_request> all) const {
  command c = out.call(script_of(script_name::renew), all.size(), 2 * all.size());
  for (const lock_request& r : all) c << r.key;
  for (const lock_request& r : all) c << r.owner << in_ms(r.ttl);
}

retrying_reply codec::read_renewal(const value& all, std::size_t index, retrying_reply r) const {
  if (all.is(value::kind::error)) return refused_by(all.text(), own_errors(), r);
  return compared(all[index], r);
}

void codec::append_look(std::string& out, std::string_view key) const {
  command(out, 4) << "EVAL" << script_of(script_name::holder).text << std::int64_t{1} << key;
}

void codec::append_break(std::string& out, std::string_view key, std::string_view seen) const {
  command(out, 5) << "EVAL" << script_of(script_name::release).text << std::int64_t{1} << key
                  << seen;
}

std::vector<holder> codec::read_look(const value& v) const {
  if (v.size() != 2) return {};
  holder out;
  out.owner = v[0].text();
  const duration rest = span_of(v[1].integer());
  if (rest != duration::max()) out.left = std::chrono::floor<std::chrono::milliseconds>(rest);
  out.waiting = -1;
  return {std::move(out)};
}

bool codec::read_break(const value& v) const { return v.integer() == 1; }

std::string codec::text_of(const retrying_owner& o) const {
  return std::string(owner_prefix) + hex_of(o);
}

bool codec::is_owner(std::string_view text) const noexcept {
  return text.starts_with(owner_prefix);
}

}  // namespace holdfast::redis::lua
