#include "backend/redis/layouts/layouts.hpp"

#include <algorithm>
#include <iterator>

#include "backend/redis/layouts/lua/codec.hpp"
#include "backend/redis/layouts/retrying_layout.hpp"
#include "backend/redis/layouts/string/string_layout.hpp"
#include "base/log.hpp"

namespace holdfast::redis {

namespace {

template <class Layout>
std::unique_ptr<layout> make(transport_group& g, const settings& s) {
  return std::make_unique<Layout>(g, s);
}

std::unique_ptr<layout> make_lua(transport_group& g, const settings& s) {
  core::log(log_level::warning,
            "layout=lua is the documents' older form, for study: waiters poll, and leases have no "
            "fencing tokens");
  return std::make_unique<retrying_layout>(g, s, std::make_unique<const lua::codec>());
}

struct entry {
  std::string_view name;
  std::unique_ptr<layout> (*make)(transport_group&, const settings&);
};

constexpr entry all_layouts[] = {
    {"string", make<string_layout>},
    {"lua", make_lua},
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
  return layout_of(name)->make(g, s);
}

}  // namespace holdfast::redis
