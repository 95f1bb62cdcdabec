#include "tests/sim/redis/redis_store.hpp"

#include "backend/redis/layouts/retrying_claim.hpp"
#include "backend/redis/layouts/retrying_layout.hpp"
#include "backend/redis/layouts/string/names.hpp"
#include "backend/redis/layouts/string/string_claim.hpp"
#include "cohort/claim_record.hpp"
#include "cohort/turn.hpp"
#include "tests/sim/machine/world.hpp"

namespace holdfast::sim {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::microseconds epoch{1'700'000'000'000'000};

// The counters of grant numbers: one for all locks, for each, or for each slot of a cluster.
bool is_counter(std::string_view key) {
  return key == redis::counter_key || key.starts_with("redisson_lock_token:") ||
         (key.starts_with("holdfast:{") && key.ends_with("}:n"));
}

}  // namespace

redis_store::redis_store(world& w)
    : world_(w), layout_(*layout_named(w.schedule.layout)), server_([this] { return wall(); }) {
  if (w.schedule.servers > 1) {
    roles_ = std::make_unique<redis_roles>(w, [this] { return wall(); });
    roles_->on_loss = [this] {
      // A number that counts is known to the replica.
      if (layout_.only_counts && world_.schedule.replicas == 0) world_.watch->forget_numbers();
      world_.watch->excuse_old_queues();
    };
  }
  if (w.schedule.sentinels > 0) {
    sentinels_ = std::make_unique<redis_sentinels>(
        w, [this] { return wall(); }, roles_->at(0).address(), roles_->at(1).address());
    roles_->be_watched_by(*sentinels_);
  }
  if (w.schedule.masters > 0)
    masters_ = std::make_unique<redis_masters>(w, [this] { return wall(); });
  if (w.schedule.kill_forbidden) each_server([this] { server().forbid("client|kill"); });
}

int redis_store::world_servers() const noexcept {
  return masters_ ? masters_->count() : roles_ ? 2 : 1;
}

int redis_store::connect(peer& p, const std::string& host) {
  if (masters_) return masters_->connect(p, host);
  if (!has_locks(host)) return sentinels_->connect(p, host);
  return roles_ ? roles_->connect(p, host) : server_.connect(p);
}

void redis_store::receive(int connection, std::string_view bytes) {
  if (masters_) return masters_->receive(connection, bytes);
  if (redis_sentinels::has(connection)) return sentinels_->receive(connection, bytes);
  roles_ ? roles_->receive(connection, bytes) : server_.receive(connection, bytes);
}

void redis_store::disconnect(int connection) {
  if (masters_) return masters_->disconnect(connection);
  if (redis_sentinels::has(connection)) return sentinels_->disconnect(connection);
  roles_ ? roles_->disconnect(connection) : server_.disconnect(connection);
}

bool redis_store::is_connected(int connection) const {
  if (masters_) return masters_->is_connected(connection);
  if (redis_sentinels::has(connection)) return sentinels_->is_connected(connection);
  return roles_ ? roles_->is_connected(connection) : server_.is_connected(connection);
}

int redis_store::server_of(int connection) const {
  if (masters_) return redis_masters::server_of(connection);
  if (redis_sentinels::has(connection)) return -1;
  return roles_ ? redis_roles::server_of(connection) : 0;
}

// Of a cluster no schedule is quiet or breaks a lock, and the servers are listed one after the
// other, while a lock may be on its way.
rule_set redis_store::unjudged() const {
  if (!masters_) return {};
  return {rule::shown, rule::broken, rule::warned};
}

moment redis_store::recovery_max() const {
  return masters_ ? moment(world_.schedule.op_timeout * 3) + 6s : moment{};
}

std::string redis_store::url(int) const {
  if (masters_) return "redis+cluster://" + masters_->hosts() + '?';
  std::string out = "redis://sim:1?";
  if (sentinels_)
    out = "redis+sentinel://" + sentinels_->hosts() + '/' +
          std::string(sentinel_group::master_name) + '?';
  if (!layout_.is_usual()) out += "layout=" + std::string(layout_.name) + '&';
  const int replicas = world_.schedule.replicas;
  if (replicas > 0) out += "replicas=" + std::to_string(replicas) + '&';
  return out;
}

std::string redis_store::name_of_client(int machine) const {
  return layout_.is_usual() ? std::string() : "client" + std::to_string(machine);
}

// Keys that a crashed client leaves beside a lock stay until the lock is next used, or lapses
// later.
std::vector<std::string> redis_store::left(bool of_crashed) {
  std::vector<std::string> out = masters_ ? masters_->key_names() : server().key_names();
  std::erase_if(out, [&](const std::string& key) {
    return is_counter(key) || (of_crashed && key.find('{') != key.npos);
  });
  return out;
}

std::chrono::microseconds redis_store::wall() const {
  return epoch + std::chrono::floor<std::chrono::microseconds>(world_.time.now() + clock_offset_);
}

// Of its greeting, and of what follows that.
void redis_store::learn(std::string_view bytes, connection_use& use) const {
  use.confirms = use.confirms || bytes.find("\r\nholdfast-replicas\r\n") != bytes.npos;
  use.will_listen = use.will_listen || bytes.find("\r\nholdfast-messages\r\n") != bytes.npos;
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
