#include "backend/redis/layouts/string/orphan.hpp"

#include "backend/redis/layouts/string/string_layout.hpp"
#include "backend/redis/layouts/string/string_node.hpp"

namespace holdfast::redis {

orphan::orphan(string_node& n, std::string_view name, const owner_text& o, time_point end)
    : server_orphan(n, end), key(name), owner(o) {}

orphan::orphan(string_node& n, const orphan& o) : orphan(n, o.key, o.owner, o.until) {}

claims::withdrawal orphan::withdraw(time_point now) {
  const owned_lock l{key, node.home().counter_of(key), view(owner), node.over().server_stamp()};
  return submit(now, [&](request_writer& w) { append_withdraw(w.out(), l); });
}

claims::withdrawal orphan::take(const value& v, time_point) noexcept {
  const bool is_again = read_released(v, {}).to_claim.what == reply::verdict::again;
  return is_again ? withdrawal::again : withdrawal::done;
}

}  // namespace holdfast::redis
