#include "tests/sim/redis/retrying_view.hpp"

namespace holdfast::sim {

retrying_view::retrying_view(redis_store& s, const std::vector<std::string>& lock_names)
    : store_(s), names_(lock_names) {}

void retrying_view::served(std::string_view client, std::string_view requests) {
  store_.each_server([&] {
    for (int lock = 0; lock < static_cast<int>(names_.size()); ++lock) {
      if (const auto owner = owner_at(lock)) note(owner->text, client, requests);
      for (const auto id : queue_at(lock)) note(id, client, requests);
      for (const auto& [id, ends] : members_at(lock)) note(id, client, requests);
    }
  });
}

void retrying_view::note(std::string_view id, std::string_view client, std::string_view requests) {
  const std::string_view claim = claim_in(id);
  if (claim.empty() || clients_.contains(claim) || requests.find(claim) == requests.npos) return;
  clients_.emplace(claim, client);
}

std::string_view retrying_view::client_in(std::string_view id) const {
  const auto found = clients_.find(claim_in(id));
  return found == clients_.end() ? std::string_view() : found->second;
}

}  // namespace holdfast::sim
