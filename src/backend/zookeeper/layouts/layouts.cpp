#include "backend/zookeeper/layouts/layouts.hpp"

#include <algorithm>

#include "backend/zookeeper/layouts/curator/codec.hpp"
#include "backend/zookeeper/layouts/curator_rw/codec.hpp"
#include "backend/zookeeper/layouts/curator_semaphore/layout.hpp"
#include "backend/zookeeper/layouts/kazoo/codec.hpp"
#include "backend/zookeeper/layouts/sequential_layout.hpp"
#include "backend/zookeeper/layouts/single_node/layout.hpp"
#include "base/log.hpp"

namespace holdfast::zookeeper {

namespace {

template <class Codec>
std::unique_ptr<layout> sequential(core::environment& env, const settings& s) {
  return std::make_unique<sequential_layout>(env, s, std::make_unique<const Codec>());
}

template <kazoo::kind Kind>
std::unique_ptr<layout> of_kazoo(core::environment& env, const settings& s) {
  return std::make_unique<sequential_layout>(
      env, s, std::make_unique<const kazoo::codec>(Kind, s.extra_lock_patterns));
}

template <class Layout>
std::unique_ptr<layout> of(core::environment& env, const settings& s) {
  return std::make_unique<Layout>(env, s);
}

struct entry {
  std::string_view name;
  std::unique_ptr<layout> (*make)(core::environment&, const settings&);
  std::string_view warning{};  // of a layout for study: why its locks are not relied on
};

constexpr entry all_layouts[] = {
    {default_layout, sequential<curator::codec>},
    {"curator-rw", sequential<curator_rw::codec>},
    {"kazoo", of_kazoo<kazoo::kind::lock>},
    {"kazoo-rw", of_kazoo<kazoo::kind::read_write>},
    {"curator-semaphore", of<curator_semaphore::layout>},
    {"node", of<single_node::layout>,
     "for study: at each release all that wait ask the server again, in no order, and a holder "
     "whose node somebody else deletes while it releases may delete the next holder's"},
};

}  // namespace

bool is_layout(std::string_view name) noexcept {
  return std::ranges::find(all_layouts, name, &entry::name) != std::end(all_layouts);
}

std::string layout_names() {
  std::string out;
  for (const entry& e : all_layouts) out.append(out.empty() ? "" : ", ").append(e.name);
  return out;
}

std::unique_ptr<layout> make_layout(core::environment& env, const settings& s) {
  const entry& found = *std::ranges::find(all_layouts, s.layout, &entry::name);
  if (!found.warning.empty())
    core::log(log_level::warning, "layout=" + s.layout + " is " + std::string(found.warning));
  return found.make(env, s);
}

}  // namespace holdfast::zookeeper
