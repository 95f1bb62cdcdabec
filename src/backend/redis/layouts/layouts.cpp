#include "backend/redis/layouts/layouts.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "backend/redis/layouts/getset/codec.hpp"
#include "backend/redis/layouts/lua/codec.hpp"
#include "backend/redis/layouts/redisson/codec.hpp"
#include "backend/redis/layouts/redisson/names.hpp"
#include "backend/redis/layouts/redisson_fair/codec.hpp"
#include "backend/redis/layouts/redisson_permits/codec.hpp"
#include "backend/redis/layouts/redisson_rw/codec.hpp"
#include "backend/redis/layouts/retrying_layout.hpp"
#include "backend/redis/layouts/setnx/codec.hpp"
#include "backend/redis/layouts/string/string_layout.hpp"
#include "base/log.hpp"

namespace holdfast::redis {

namespace {

using made_layout = std::unique_ptr<layout>;
using layout_maker = made_layout (*)(transport_group&, const settings&);

template <class Codec, auto... Arguments>
made_layout make_retrying(transport_group& g, const settings& s) {
  return std::make_unique<retrying_layout>(g, s, std::make_unique<const Codec>(Arguments...));
}

// Of a codec whose owners are those of Redisson's clients.
template <class Codec, auto... Arguments>
made_layout make_redisson(transport_group& g, const settings& s) {
  std::string client_id = redisson::new_client_id(g.env());
  return std::make_unique<retrying_layout>(g, s,
                                           std::make_unique<const Codec>(std::move(client_id),
                                                                         Arguments...));
}

made_layout make_string(transport_group& g, const settings& s) {
  return std::make_unique<string_layout>(g, s);
}

made_layout make_getset(transport_group& g, const settings& s) {
  return std::make_unique<retrying_layout>(g, s,
                                           std::make_unique<const getset::codec>(s.stale_after));
}

struct entry {
  std::string_view name;
  layout_maker make;
  std::string_view warning{};  // of a layout for study: why its locks are not relied on
};

constexpr entry all_layouts[] = {
    {"string", make_string},
    {"lua", make_retrying<lua::codec>,
     "the documents' older form, for study: waiters poll, and leases have no fencing tokens"},
    {"redisson", make_redisson<redisson::codec, redisson::waiters::listen>},
    {"redisson-spin", make_redisson<redisson::codec, redisson::waiters::poll>},
    {"redisson-fair", make_retrying<redisson_fair::codec>},
    {"redisson-rw", make_redisson<redisson_rw::codec>},
    {"redisson-permits", make_retrying<redisson_permits::codec>},
    {"setnx", make_retrying<setnx::codec, setnx::acquired_by::setnx>,
     "for study and not safe: a crash between SETNX and EXPIRE leaves the lock for ever, "
     "and a late release deletes the next holder's lock"},
    {"setnx-exists", make_retrying<setnx::codec, setnx::acquired_by::exists>,
     "for study and not safe: two clients may see that there is no lock and both have it, and each "
     "attempt deletes whatever lock it finds"},
    {"getset", make_getset,
     "for study and not safe: a client whose clock is ahead takes a lock that is held, and an "
     "attempt may overwrite the holder's time stamp"},
};

const entry* layout_of(std::string_view name) noexcept {
  const auto found = std::ranges::find(all_layouts, name, &entry::name);
  return found == std::end(all_layouts) ? nullptr : found;
}

}  // namespace

bool is_layout(std::string_view name) noexcept { return layout_of(name) != nullptr; }

std::string layout_names() {
  std::string out;
  for (const entry& e : all_layouts) out += (out.empty() ? "" : ", ") + std::string(e.name);
  return out;
}

std::unique_ptr<layout> make_layout(std::string_view name, transport_group& g, const settings& s) {
  const entry& found = *layout_of(name);
  if (!found.warning.empty())
    core::log(log_level::warning,
              "layout=" + std::string(name) + " is " + std::string(found.warning));
  return found.make(g, s);
}

}  // namespace holdfast::redis
