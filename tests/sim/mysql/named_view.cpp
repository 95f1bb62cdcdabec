#include "tests/sim/mysql/named_view.hpp"

#include "backend/mysql/strategies/named/statements.hpp"

namespace holdfast::sim {

namespace {

constexpr std::int64_t long_enough = 1'000'000;  // in ms: when a connection ends is up to others

}  // namespace

std::string named_view::lock_of(const std::string& key) { return "SHA2 ( " + key + " , 256 ) "; }

named_view::named_view(mysql_store& s, const std::vector<std::string>& lock_names) : store_(s) {
  const mysql::named::statements texts("test", "");
  for (const std::string& name : lock_names) locks_.push_back(lock_of(texts.key_of(name)));
}

std::string_view named_view::kept(const named_locks::request& r) const {
  const auto [place, is_new] = clients_.try_emplace(id_of(r.serial));
  if (place->second.empty()) place->second = store_.user_of(r.connection);
  return place->first;
}

owner_is named_view::kind_of(std::string_view owner) const {
  return owner.empty() ? owner_is::nobody : owner_is::claim;
}

std::string_view named_view::client_in(std::string_view id) const {
  const auto found = clients_.find(id);
  return found == clients_.end() ? std::string_view() : found->second;
}

std::optional<owner_seen> named_view::owner_at(int lock) const {
  const auto* const r = store_.server().locks().holder(locks_[static_cast<std::size_t>(lock)]);
  if (!r) return std::nullopt;
  return owner_seen{kept(*r), now_ms() + long_enough};
}

// Its client has lost the connection, which the server does not know yet.
bool named_view::is_given_up(int lock, std::string_view id) const {
  const auto* const r = store_.server().locks().holder(locks_[static_cast<std::size_t>(lock)]);
  return r && kept(*r) == id && store_.is_given_up(r->connection);
}

std::vector<std::string_view> named_view::queue_at(int lock) const {
  std::vector<std::string_view> out;
  for (const auto& r : store_.server().locks().queue(locks_[static_cast<std::size_t>(lock)]))
    out.push_back(kept(r));
  return out;
}

}  // namespace holdfast::sim
