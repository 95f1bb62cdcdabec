#include "tests/sim/zookeeper/layouts.hpp"

#include <algorithm>
#include <utility>

#include "backend/zookeeper/layouts/curator/codec.hpp"
#include "backend/zookeeper/layouts/curator_rw/codec.hpp"
#include "backend/zookeeper/layouts/curator_semaphore/layout.hpp"
#include "backend/zookeeper/layouts/kazoo/codec.hpp"
#include "backend/zookeeper/layouts/sequential_layout.hpp"
#include "backend/zookeeper/layouts/single_node/layout.hpp"

namespace holdfast::sim {

namespace {

std::string sequential_claim_of(const seam::claim& c) {
  const auto& mine = static_cast<const zookeeper::sequential_claim&>(c);
  return mine.store().node_name(mine).substr(0, own_part);
}

std::string semaphore_claim_of(const seam::claim& c) {
  namespace semaphore = zookeeper::curator_semaphore;
  return semaphore::owner_text(static_cast<const semaphore::claim&>(c).attempt).substr(0, own_part);
}

std::string single_claim_of(const seam::claim& c) {
  return base::text_of(static_cast<const zookeeper::single_node::claim&>(c).attempt)
      .substr(0, own_part);
}

zookeeper_layout sequential(std::string_view name, seam::capabilities can,
                            std::vector<stranger> strangers) {
  return {.name = name,
          .can = can,
          .read = read_sequential,
          .claim_of = sequential_claim_of,
          .own_texts = {{"/"}},
          .strangers = std::move(strangers)};
}

const std::vector<zookeeper_layout>& all_on_zookeeper() {
  namespace kazoo = zookeeper::kazoo;
  static const std::vector<std::string> no_more_patterns;
  static const std::vector<zookeeper_layout> all{
      sequential("curator", zookeeper::curator::codec().can(), {{"/", "_c_foreign-", "-lock-"}}),
      sequential("kazoo", kazoo::codec(kazoo::kind::lock, no_more_patterns).can(),
                 {{"/", "foreign", "__lock__"}}),
      sequential("curator-rw", zookeeper::curator_rw::codec().can(),
                 {{"/", "_c_foreign-", "-__WRIT__"}, {"/", "_c_foreign-", "-__READ__"}}),
      sequential("kazoo-rw", kazoo::codec(kazoo::kind::read_write, no_more_patterns).can(),
                 {{"/", "foreign", "__lock__"}, {"/", "foreign", "__rlock__"}}),
      {.name = "curator-semaphore",
       .can = zookeeper::curator_semaphore::abilities,
       .read = read_semaphore,
       .claim_of = semaphore_claim_of,
       .own_texts = {{"/leases/"}, {"/locks/"}},
       .strangers = {{"/leases/", "_c_foreign-", "-lease-"}, {"/locks/", "_c_foreign-", "-lock-"}}},
      {.name = "node",
       .can = zookeeper::single_node::abilities,
       .read = read_single,
       .claim_of = single_claim_of,
       .own_texts = {{"", 4}},
       .strangers = {{.begin = "foreign-", .is_the_lock = true}},
       .takes_foreign_data = false},
  };
  return all;
}

}  // namespace

const zookeeper_layout* zookeeper_layout_named(std::string_view name) {
  const auto& all = all_on_zookeeper();
  const auto found = std::ranges::find(all, name, &zookeeper_layout::name);
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string_view> zookeeper_layouts() {
  std::vector<std::string_view> out;
  for (const zookeeper_layout& l : all_on_zookeeper()) out.push_back(l.name);
  return out;
}

}  // namespace holdfast::sim
