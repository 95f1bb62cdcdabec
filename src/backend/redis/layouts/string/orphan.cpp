#include "backend/redis/layouts/string/orphan.hpp"

#include "backend/redis/layouts/string/string_layout.hpp"
#include "backend/redis/layouts/string/string_node.hpp"

namespace holdfast::redis {

orphan::orphan(string_node& n, std::string_view name, const owner_text& o, time_point end)
    : server_orphan(n, end), lock(name), owner(o) {}

orphan::orphan(string_node& n, const orphan& o) : orphan(n, o.lock, o.owner, o.until) {}

claims::withdrawal orphan::withdraw(time_point now) {
  transport& over = node.over();
  const owned_lock l{lock, node.home().counter_of(lock), view(owner), over.server_stamp()};
  const bool is_sent =
      over.submit(*this, now, [&](request_writer& w) { append_withdraw(w.out(), l); });
  return is_sent ? withdrawal::sent : withdrawal::unsent;
}

claims::withdrawal orphan::take(const value& v, time_point) noexcept {
  const bool is_again = read_released(v, {}).to_claim.what == reply::verdict::again;
  return is_again ? withdrawal::again : withdrawal::done;
}

}  // namespace holdfast::redis
