#include "backend/zookeeper/layouts/marked_codec.hpp"

#include <algorithm>

namespace holdfast::zookeeper {

namespace {

constexpr std::size_t digits = 10;

bool is_sequence(std::string_view text) noexcept {
  if (text.starts_with('-')) text.remove_prefix(1);
  return text.size() == digits &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string marked_codec::name_of(const core::uuid& g, lock_mode mode) const {
  std::string id = text_of(g);
  if (rules_.has_plain_guid) std::erase(id, '-');
  const auto own = std::ranges::find(rules_.markers, mode, &node_marker::mode);
  std::string out;
  out.reserve(rules_.before_guid.size() + id.size() + rules_.after_guid.size() + own->text.size() +
              digits);
  return out.append(rules_.before_guid).append(id).append(rules_.after_guid).append(own->text);
}

bool marked_codec::read(std::string_view name, contender& out) const noexcept {
  for (const node_marker& m : rules_.markers) {
    const std::size_t at = name.rfind(m.text);
    if (at == std::string_view::npos) continue;
    out = {name, name.substr(at + m.text.size()), m.mode};
    if (!rules_.needs_digits || is_sequence(out.sequence)) return true;
  }
  return false;
}

std::vector<marked_codec::contender> marked_codec::in_order(node_names all) const {
  std::vector<contender> out;
  out.reserve(all.size());
  contender c;
  for (const std::string_view name : all)
    if (read(name, c)) out.push_back(c);
  std::ranges::stable_sort(out, {}, &contender::sequence);
  return out;
}

place_in_line marked_codec::place_of(std::string_view own, lock_mode mode, node_names all) const {
  const std::vector<contender> line = in_order(all);
  const auto at = std::ranges::find(line, own, &contender::name);
  place_in_line out;
  if (at == line.end()) return out;
  out.is_there = true;
  const bool shares = mode == lock_mode::shared;
  const auto is_exclusive = [](const contender& c) { return c.mode == lock_mode::exclusive; };
  out.others_behind = shares ? std::any_of(at + 1, line.end(), is_exclusive) : at + 1 != line.end();
  if (at == line.begin()) return out;
  if (!shares) {
    out.blocker = at[-1].name;
    // A writer that becomes a reader ends one node and keeps its place with another.
    out.is_next = at - line.begin() == 1 && !has(lock_mode::shared);
    return out;
  }
  const auto blocker = std::find_if(std::make_reverse_iterator(at), line.rend(), is_exclusive);
  if (blocker != line.rend()) out.blocker = blocker->name;
  return out;
}

std::vector<node_in_line> marked_codec::line_of(node_names all) const {
  std::vector<node_in_line> out;
  bool has_writer = false;
  for (const contender& c : in_order(all)) {
    const bool shares = c.mode == lock_mode::shared;
    out.push_back({c.name, c.mode, shares ? !has_writer : out.empty()});
    has_writer = has_writer || !shares;
  }
  return out;
}

}  // namespace holdfast::zookeeper
