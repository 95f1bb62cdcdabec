// The codec of the layouts whose nodes are told apart by a marker in their names: it says whether a
// node wants to be alone or to share, and the server's digits behind it are its place.
//
//   a node that  | holds the lock when        | else it waits for the end of
//   -------------+----------------------------+-------------------------------------------------
//   is exclusive | nobody stands before it    | the node just before it
//   shares       | no exclusive one does      | the last exclusive one before it
//
// So a reader waits behind a writer that waits, and an upgrade never succeeds. Curator's reader
// watches the first writer instead, and looks once for each of them.
#pragma once
#include <string>
#include <tuple>
#include <vector>

#include "backend/zookeeper/layouts/sequential_codec.hpp"

namespace holdfast::zookeeper {

// The capabilities of every layout of sequential nodes.
constexpr seam::capabilities abilities(unsigned modes) noexcept {
  const bool shares = (modes & seam::bit_of(lock_mode::shared)) != 0;
  return {.life = seam::lifetime::session,
          .queue = seam::order::fifo,
          .contention = seam::contention_signal::push,
          .modes = modes,
          .tokens = true,
          .durable = true,
          .processes = true,
          .breakable = true,
          .revocation = true,
          .own_reader_tokens = shares,
          .writer_preference = shares,
          .downgrade = shares};
}

struct node_marker {
  std::string_view text;
  lock_mode mode;
};

struct marked_rules {  // of one layout
  seam::capabilities can;
  std::vector<node_marker> markers;  // the first of a mode is what this layout writes
  std::string_view before_guid, after_guid;
  bool has_plain_guid = false;  // 32 digits without a '-'
  // A name counts only if exactly ten digits follow its marker; of several markers in a name the
  // first in `markers` counts. Otherwise the text after the marker is compared, whatever it is.
  bool needs_digits = false;
  node_kind parent = node_kind::container;
  // Markers of the other kinds of locks of the same library. Nodes of two kinds do not exclude each
  // other, so a name that has both is refused.
  std::vector<std::string_view> other_kinds{};
};

class marked_codec : public sequential_codec {
 public:
  explicit marked_codec(marked_rules r) : rules_(std::move(r)) {}

  const seam::capabilities& can() const noexcept override { return rules_.can; }
  node_kind parent() const noexcept override { return rules_.parent; }
  std::string name_of(const base::uuid&, lock_mode) const override;
  node_place place_of(std::string_view own, lock_mode, node_names all) const override;
  std::vector<queued_node> queue_of(node_names all) const override;

 private:
  struct contender {
    std::string_view sequence, name;
    lock_mode mode = lock_mode::exclusive;
    bool operator<(const contender& other) const noexcept {
      return std::tie(sequence, name) < std::tie(other.sequence, other.name);
    }
  };
  bool has(lock_mode m) const noexcept { return (rules_.can.modes & seam::bit_of(m)) != 0; }
  bool read(std::string_view name, contender& out) const noexcept;
  bool is_of_other_kind(std::string_view name) const noexcept;
  std::vector<contender> in_order(node_names all) const;

  const marked_rules rules_;
};

}  // namespace holdfast::zookeeper
