// Publish and subscribe, by channel.
#include <array>
#include <optional>
#include <string>

#include "tests/sim/redis/model/command_list.hpp"
#include "tests/sim/redis/model/server.hpp"

namespace holdfast::sim {
namespace {

void answer_subscription(call& c, std::string_view what, std::optional<std::string_view> channel) {
  c.out.array(3);
  c.out.bulk(what);
  channel ? c.out.bulk(*channel) : c.out.null();
  c.out.integer(static_cast<long long>(c.by.channels.size()));
}

void run_subscribe(call& c) {
  for (const auto channel : c.argv.subspan(1)) {
    c.on.subscribe(c.by, channel);
    answer_subscription(c, "subscribe", channel);
  }
}

void run_unsubscribe(call& c) {
  for (const auto channel : c.argv.subspan(1)) {
    c.on.unsubscribe(c.by, channel);
    answer_subscription(c, "unsubscribe", channel);
  }
  if (c.argv.size() > 1) return;
  if (c.by.channels.empty()) answer_subscription(c, "unsubscribe", std::nullopt);
  while (!c.by.channels.empty()) {
    const std::string channel = c.by.channels.front();
    c.on.unsubscribe(c.by, channel);
    answer_subscription(c, "unsubscribe", channel);
  }
}

void run_publish(call& c) { c.out.integer(c.on.publish(c.argv[1], c.argv[2])); }

constexpr unsigned of_messages = while_loading | while_subscribed | of_sentinels_too;

constexpr std::array list_of_messages{
    command{"subscribe", -2, of_messages | not_in_scripts, run_subscribe},
    command{"unsubscribe", -1, of_messages | not_in_scripts, run_unsubscribe},
    command{"publish", 3, while_loading, run_publish},
};

}  // namespace

std::span<const command> message_commands() { return list_of_messages; }

}  // namespace holdfast::sim
