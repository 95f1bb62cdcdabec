#include "tests/sim/redis/redis_view.hpp"

#include <algorithm>
#include <charconv>

namespace holdfast::sim {

// An id is hf1:<client, 16 digits>:<claim, 32 digits>, of a reader hfs:, of a holder of permits
// hfp:, whose permits are the second eight digits of the claim. A group is hfg:<number>, a
// semaphore hfp:<total>.
namespace {

constexpr std::size_t claim_digits = 32, client_at = 4, client_digits = 16;
constexpr std::size_t permits_at = client_at + client_digits + 1 + 8, permits_digits = 8;

}  // namespace

redis_view::redis_view(redis_store& s, const std::vector<std::string>& lock_names) : store_(s) {
  for (const std::string& name : lock_names) {
    const std::string beside = "holdfast:{" + name + "}:" + name;
    keys_.push_back({name, beside + ":q", beside + ":r", beside + ":m"});
  }
}

owner_is redis_view::kind_of(std::string_view owner) const {
  if (owner.empty()) return owner_is::nobody;
  if (owner.size() < client_at || owner[0] != 'h' || owner[1] != 'f' || owner[3] != ':')
    return owner_is::foreign;
  switch (owner[2]) {
    case '1': return owner_is::claim;
    case 'g': return owner_is::readers;
    case 'p': return owner_is::permits;
    default: return owner_is::foreign;
  }
}

std::string_view redis_view::claim_in(std::string_view id) const {
  return id.substr(id.size() - std::min(id.size(), claim_digits));
}

std::string_view redis_view::client_in(std::string_view id) const {
  return id.size() > client_at + client_digits ? id.substr(client_at, client_digits)
                                               : std::string_view();
}

std::int64_t redis_view::number_of(std::string_view group) const {
  std::int64_t n = 0;
  std::from_chars(group.data() + client_at, group.data() + group.size(), n);
  return n;
}

bool redis_view::has_listener(std::string_view client) const {
  return store_.has_listener("hf:" + std::string(client));
}

std::optional<owner_seen> redis_view::owner_at(int lock) const {
  const auto seen = store_.server_with(of(lock).lock).string_at(of(lock).lock);
  if (!seen) return std::nullopt;
  return owner_seen{seen->text, seen->expires_ms};
}

std::vector<std::string_view> redis_view::queue_at(int lock) const {
  return store_.server_with(of(lock).queue).members_at(of(lock).queue);
}

std::vector<std::pair<std::string_view, double>> redis_view::members_at(int lock) const {
  return store_.server_with(of(lock).members).scored_at(of(lock).members);
}

int redis_view::permits_of(int, std::string_view id) const {
  if (!id.starts_with("hfp:") || id.size() < permits_at + permits_digits) return 1;
  int n = 1;
  std::from_chars(id.data() + permits_at, id.data() + permits_at + permits_digits, n, 16);
  return n;
}

// Of a holder it is its note, which has a '|', of a waiter the window that it wants.
std::vector<std::string_view> redis_view::notes_at(int lock, bool of_waiters) const {
  const std::string& notes = of(lock).notes;
  model_redis& at = store_.server_with(notes);
  std::vector<std::string_view> out = at.fields_at(notes);
  if (!of_waiters)
    std::erase_if(out, [&](std::string_view id) {
      return at.field_at(notes, id).find('|') == std::string_view::npos;
    });
  return out;
}

// There an id follows the ttl of all, or other ids that do.
bool redis_view::asks_for_several(std::string_view request, std::string_view id) const {
  const std::size_t at = request.find(id);
  if (at == request.npos) return false;
  std::string_view before = request.substr(0, at), last;
  do {
    before = before.substr(0, before.rfind("\r\n$"));
    last = before.substr(before.rfind('\n') + 1);
    before.remove_suffix(last.size());
  } while (last.starts_with("hf1:"));
  return !last.empty() && last.find_first_not_of("0123456789") == last.npos;
}

}  // namespace holdfast::sim
