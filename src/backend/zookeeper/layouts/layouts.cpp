#include "backend/zookeeper/layouts/layouts.hpp"

#include <algorithm>
#include <array>
#include <iterator>

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
std::unique_ptr<layout> sequential(base::environment& env, const settings& s) {
  return std::make_unique<sequential_layout>(env, s, std::make_unique<const Codec>());
}

template <kazoo::kind Kind>
std::unique_ptr<layout> of_kazoo(base::environment& env, const settings& s) {
  return std::make_unique<sequential_layout>(
      env, s, std::make_unique<const kazoo::codec>(Kind, s.extra_lock_patterns));
}

template <class Layout>
std::unique_ptr<layout> of(base::environment& env, const settings& s) {
  return std::make_unique<Layout>(env, s);
}

using maker = std::unique_ptr<layout> (*)(base::environment&, const settings&);

struct entry {
  std::string_view name;
  std::array<maker, 3> makers;  // a kind of lock is kept by the first layout that has its modes
  std::string_view warning{};   // of a demonstration: why its locks are not relied on
  bool needs_consent = false;   // the warning is about safety: ?unsafe=1 accepts it
};

constexpr entry all_layouts[] = {
    {default_layout,
     {sequential<curator::codec>, sequential<curator_rw::codec>, of<curator_semaphore::layout>}},
    {"curator-rw", {sequential<curator_rw::codec>}},
    {"kazoo", {of_kazoo<kazoo::kind::lock>}},
    {"kazoo-rw", {of_kazoo<kazoo::kind::read_write>}},
    {"curator-semaphore", {of<curator_semaphore::layout>}},
    {"node",
     {of<single_node::layout>},
     "a demonstration and not safe: at each release all waiters send a request, in no order, and a "
     "holder whose node another program deletes while it releases may delete the next holder's",
     true},
};

}  // namespace

bool is_layout(std::string_view name) noexcept {
  return std::ranges::find(all_layouts, name, &entry::name) != std::end(all_layouts);
}

std::string_view danger_of(std::string_view name) noexcept {
  const auto found = std::ranges::find(all_layouts, name, &entry::name);
  const bool is_unsafe = found != std::end(all_layouts) && found->needs_consent;
  return is_unsafe ? found->warning : std::string_view();
}

std::string layout_names() {
  std::string out;
  for (const entry& e : all_layouts) out.append(out.empty() ? "" : ", ").append(e.name);
  return out;
}

std::vector<std::unique_ptr<layout>> make_layouts(base::environment& env, const settings& s) {
  const entry& found = *std::ranges::find(all_layouts, s.layout, &entry::name);
  if (!found.warning.empty())
    base::log(s.log, log_level::warning,
              "layout=" + s.layout + " is " + std::string(found.warning));
  std::vector<std::unique_ptr<layout>> out;
  for (const maker make : found.makers)
    if (make) out.push_back(make(env, s));
  return out;
}

}  // namespace holdfast::zookeeper
