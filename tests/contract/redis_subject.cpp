#ifdef HOLDFAST_WITH_REDIS
#include "subject.hpp"
#include "testkit/servers/redis_server.hpp"
#include "testkit/servers/tcp_proxy.hpp"

namespace contract {
namespace {

using holdfast::testkit::redis_server;

redis_server& server_of_all_cases() {
  static redis_server server;
  return server;
}

// Each case has its own network, and nothing of an earlier one is at the server.
class redis_subject final : public subject {
 public:
  explicit redis_subject(std::string_view options) : options_(options) {
    server_.go_on();  // a case that failed may have left it stopped
    for (const char* type : {"normal", "pubsub"}) server_.command({"CLIENT", "KILL", "TYPE", type});
    server_.command({"FLUSHALL"});
    server_.command({"SCRIPT", "FLUSH"});
  }

  std::string url() const override { return with_options(proxy_.url(), options_); }
  std::string short_lived_url() const override {
    return with_options(url(), "ttl=" + std::to_string(short_ttl.count()) + "ms&op-timeout=3s");
  }
  void lose_leases_of(const holdfast::client&) override {
    if (options_ == "layout=redisson-permits") {  // whose ends stand beside what ends
      server_.command({"FLUSHALL"});
      return;
    }
    const bool of_redisson = options_.starts_with("layout=redisson");
    server_.command({"EVAL", of_redisson ? drop_what_ends : drop_owners, "0"});
  }
  void begin_outage() override { server_.stop(); }
  void end_outage() override { server_.go_on(); }
  void lose_next_reply() override { proxy_.cut_after(holdfast::testkit::direction::to_client, 0); }

 private:
  // As if every lease had run out; who waits is left where it is.
  static constexpr const char* drop_owners =
      "for _, k in ipairs(redis.call('KEYS', '*')) do "
      "if redis.call('TYPE', k).ok == 'string' and k ~= 'holdfast:n' then redis.call('DEL', k) end "
      "end";
  // Of Redisson's locks only what lasts as long as a lease has an end.
  static constexpr const char* drop_what_ends =
      "for _, k in ipairs(redis.call('KEYS', '*')) do "
      "if redis.call('PTTL', k) >= 0 then redis.call('DEL', k) end "
      "end";

  const std::string options_;
  redis_server& server_ = server_of_all_cases();
  holdfast::testkit::tcp_proxy proxy_{server_.port()};
};

}  // namespace

std::unique_ptr<subject> make_redis_subject(std::string_view options) {
  return std::make_unique<redis_subject>(options);
}

}  // namespace contract
#endif
