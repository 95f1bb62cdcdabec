#include "backend/redis/layouts/layouts.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "backend/redis/layouts/getset/codec.hpp"
#include "backend/redis/layouts/lua/codec.hpp"
#include "backend/redis/layouts/redisson/codec.hpp"
#include "backend/redis/layouts/redisson/family.hpp"
#include "backend/redis/layouts/redisson_fair/codec.hpp"
#include "backend/redis/layouts/redisson_permits/codec.hpp"
#include "backend/redis/layouts/redisson_rw/codec.hpp"
#include "backend/redis/layouts/redlock/redlock_layout.hpp"
#include "backend/redis/layouts/retrying_layout.hpp"
#include "backend/redis/layouts/setnx/codec.hpp"
#include "backend/redis/layouts/string/string_layout.hpp"
#include "base/log.hpp"

namespace holdfast::redis {

namespace {

using made_layout = std::unique_ptr<layout>;
using layout_maker = made_layout (*)(io::client_reactor&, const settings&);

template <class Codec, auto... Arguments>
made_layout make_retrying(io::client_reactor& r, const settings& s) {
  return std::make_unique<retrying_layout>(r, s, std::make_unique<const Codec>(Arguments...));
}

// Redisson uses sharded channels in a cluster.
channel_kind channels_in(const settings& s) noexcept {
  return s.is_cluster() ? channel_kind::sharded : channel_kind::plain;
}

// For a codec whose owners are those of Redisson's clients.
template <class Codec, auto... Arguments>
made_layout make_redisson(io::client_reactor& r, const settings& s) {
  auto made =
      std::make_unique<const Codec>(redisson::new_client_id(r.env()), Arguments..., channels_in(s));
  return std::make_unique<retrying_layout>(r, s, std::move(made));
}

// For a codec of Redisson whose owners have no id of the client.
template <class Codec>
made_layout make_redisson_by_claim(io::client_reactor& r, const settings& s) {
  return std::make_unique<retrying_layout>(r, s, std::make_unique<const Codec>(channels_in(s)));
}

made_layout make_string(io::client_reactor& r, const settings& s) {
  return std::make_unique<string_layout>(r, s);
}

made_layout make_getset(io::client_reactor& r, const settings& s) {
  return std::make_unique<retrying_layout>(r, s,
                                           std::make_unique<const getset::codec>(s.stale_after));
}

struct entry {
  std::string_view name;
  std::array<layout_maker, 3> makers;  // the first layout that has a kind's modes keeps its locks
  std::string_view warning{};          // of a demonstration: why its locks are not relied on
  bool needs_consent = false;          // the warning is about safety: ?unsafe=1 accepts it
};

constexpr entry all_layouts[] = {
    {default_layout, {make_string}},
    {"lua",
     {make_retrying<lua::codec>},
     "an older form of the Redis documentation: waiters poll, and leases have no fencing tokens"},
    {redisson_family,
     {make_redisson<redisson::codec, redisson::waiters::listen>, make_redisson<redisson_rw::codec>,
      make_redisson_by_claim<redisson_permits::codec>}},
    {"redisson-spin", {make_redisson<redisson::codec, redisson::waiters::poll>}},
    {"redisson-fair", {make_redisson_by_claim<redisson_fair::codec>}},
    {"redisson-rw", {make_redisson<redisson_rw::codec>}},
    {"redisson-permits", {make_redisson_by_claim<redisson_permits::codec>}},
    {"setnx",
     {make_retrying<setnx::codec, setnx::acquired_by::setnx>},
     "a demonstration and not safe: a crash between SETNX and EXPIRE leaves the lock forever, "
     "and a late release deletes the next holder's lock",
     true},
    {"setnx-exists",
     {make_retrying<setnx::codec, setnx::acquired_by::exists>},
     "a demonstration and not safe: two clients may both find no lock and hold it, and each "
     "attempt "
     "deletes the lock that it finds",
     true},
    {"getset",
     {make_getset},
     "a demonstration and not safe: a client whose clock is ahead takes a lock that is held, and "
     "an "
     "attempt may overwrite the holder's time stamp",
     true},
};

const entry* layout_of(std::string_view name) noexcept {
  const auto found = std::ranges::find(all_layouts, name, &entry::name);
  return found == std::end(all_layouts) ? nullptr : found;
}

}  // namespace

bool is_layout(std::string_view name) noexcept { return layout_of(name) != nullptr; }

std::string_view danger_of(std::string_view name) noexcept {
  const entry* const found = layout_of(name);
  return found && found->needs_consent ? found->warning : std::string_view();
}

std::string layout_names() {
  std::string out;
  for (const entry& e : all_layouts) out += (out.empty() ? "" : ", ") + std::string(e.name);
  return out;
}

std::vector<std::unique_ptr<layout>> make_layouts(io::client_reactor& r, const settings& s) {
  std::vector<std::unique_ptr<layout>> out;
  if (s.layout == layout_of_redlock) {
    out.push_back(std::make_unique<redlock_layout>(r, s));
    return out;
  }
  const entry& found = *layout_of(s.layout);
  if (!found.warning.empty())
    base::log(s.log, log_level::warning,
              "layout=" + s.layout + " is " + std::string(found.warning));
  for (const layout_maker make : found.makers)
    if (make == std::get<0>(found.makers) && s.is_fair)
      out.push_back(make_redisson_by_claim<redisson_fair::codec>(r, s));
    else if (make)
      out.push_back(make(r, s));
  return out;
}

}  // namespace holdfast::redis
