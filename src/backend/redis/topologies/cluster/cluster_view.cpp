#include "backend/redis/topologies/cluster/cluster_view.hpp"

#include <algorithm>

#include "base/number.hpp"
#include "base/words.hpp"

namespace holdfast::redis {

using base::next_word;

namespace {

template <class Number>
bool read_number(std::string_view text, Number& out) noexcept {
  const auto number = base::whole_number<Number>(text);
  out = number.value_or(out);
  return number.has_value();
}

bool has_flag(std::string_view flags, std::string_view wanted) noexcept {
  while (!flags.empty())
    if (next_word(flags, ',') == wanted) return true;
  return false;
}

// "ip:port@cport", from Redis 7.0 on with ",hostname" behind it.
bool read_place(std::string_view text, base::address& out) {
  const std::string_view announced = text.substr(0, text.find(','));
  const std::string_view place = announced.substr(0, announced.find('@'));
  const auto colon = place.rfind(':');
  if (colon == place.npos || !read_number(place.substr(colon + 1), out.port)) return false;
  out.host = place.substr(0, colon);
  return true;
}

// "5", "0-5460"; "[93->-id]" and "[77-<-id]" are slots on their way.
bool read_slots(std::string_view text, cluster_node& to) {
  if (text.starts_with('[')) return true;
  const auto dash = std::min(text.find('-'), text.size());
  slot_number from = 0, last = 0;
  if (!read_number(text.substr(0, dash), from)) return false;
  last = from;
  if (dash < text.size() && !read_number(text.substr(dash + 1), last)) return false;
  if (from > last || last >= slot_count) return false;
  to.slots.emplace_back(from, last);
  return true;
}

// "id place flags master ping pong epoch link slots ..."
std::optional<cluster_node> read_node(std::string_view line, const base::address& asked) {
  cluster_node out;
  out.id = next_word(line);
  if (!read_place(next_word(line), out.at)) return std::nullopt;
  const std::string_view flags = next_word(line), master = next_word(line);
  next_word(line);
  next_word(line);
  const bool is_complete = read_number(next_word(line), out.epoch);
  next_word(line);
  if (!is_complete) return std::nullopt;
  if (has_flag(flags, "myself") && out.at.host.empty()) out.at.host = asked.host;
  out.is_master = has_flag(flags, "master");
  out.has_failed = has_flag(flags, "fail") || has_flag(flags, "noaddr");
  if (master != "-") out.master = master;
  while (!line.empty())
    if (!read_slots(next_word(line), out)) return std::nullopt;
  return out;
}

}  // namespace

std::optional<std::vector<cluster_node>> read_cluster_nodes(std::string_view text,
                                                            const base::address& asked) {
  std::vector<cluster_node> out;
  while (!text.empty()) {
    std::string_view line = next_word(text, '\n');
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    auto node = read_node(line, asked);
    if (!node) return std::nullopt;
    out.push_back(std::move(*node));
  }
  if (out.empty()) return std::nullopt;
  return out;
}

}  // namespace holdfast::redis
