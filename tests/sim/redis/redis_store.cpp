#include "tests/sim/redis/redis_store.hpp"

#include "backend/redis/layouts/retrying_claim.hpp"
#include "backend/redis/layouts/retrying_layout.hpp"
#include "backend/redis/layouts/string/names.hpp"
#include "backend/redis/layouts/string/string_claim.hpp"
#include "cohort/claim_record.hpp"
#include "cohort/turn.hpp"
#include "tests/sim/machine/world.hpp"

namespace holdfast::sim {

namespace {

constexpr std::chrono::microseconds epoch{1'700'000'000'000'000};

}  // namespace

redis_store::redis_store(world& w)
    : world_(w), layout_(*layout_named(w.schedule.layout)), server_([this] { return wall(); }) {
  if (w.schedule.kill_forbidden) server_.forbid("client|kill");
}

std::string redis_store::url(int) const {
  return "redis://sim:1?" +
         (layout_.is_usual() ? std::string() : "layout=" + std::string(layout_.name) + '&');
}

std::string redis_store::name_of_client(int machine) const {
  return layout_.is_usual() ? std::string() : "client" + std::to_string(machine);
}

// A counter of numbers stays: one for all locks, or one for each.
bool redis_store::is_clean() {
  const int counters = layout_.is_usual() ? 1 : layout_.can.tokens ? world_.schedule.locks : 0;
  return server_.keys() <= static_cast<std::size_t>(counters);
}

std::chrono::microseconds redis_store::wall() const {
  return epoch + std::chrono::floor<std::chrono::microseconds>(world_.time.now() + clock_offset_);
}

// Of its greeting, and of what follows that.
void redis_store::learn(std::string_view bytes, connection_use& use) const {
  use.asks = bytes.find("\r\nMULTI\r\n") != bytes.npos || bytes.find("\r\nEVAL") != bytes.npos;
  if (!layout_.is_usual()) {
    use.listens = bytes.find("\r\nSUBSCRIBE\r\n") != bytes.npos;
    return;
  }
  constexpr std::string_view subscribes = "\r\nSUBSCRIBE\r\n$19\r\nhf:";
  const auto at = bytes.find(subscribes);
  if (at == bytes.npos) return;
  use.listens = true;
  use.client = bytes.substr(at + subscribes.size(), 16);
}

std::size_t redis_store::cut_at(std::string_view bytes, double share) const {
  return sim::cut_at(bytes, share);
}

std::string redis_store::claim_of(const detail::turn& t) const {
  if (!layout_.is_usual()) {
    auto& of_layout = static_cast<redis::retrying_claim&>(*t.of->claim);
    return of_layout.store().codec().text_of(of_layout.owner_id);
  }
  const auto& c = static_cast<const redis::claim&>(*t.of->claim);
  const redis::owner_text text = redis::text_of(0, c.id());
  return std::string(redis::view(text).substr(21));
}

bool redis_store::only_refuses(trouble t) const {
  return t == trouble::readonly || t == trouble::set_revoked || t == trouble::loading ||
         t == trouble::memory_full;
}

}  // namespace holdfast::sim
