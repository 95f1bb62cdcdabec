#include "tests/interop/redisson/fixture.hpp"

#include <algorithm>
#include <cctype>

namespace holdfast::redisson_test {
namespace {

testkit::redisson_peer& jvm() {
  static testkit::redisson_peer peer;
  return peer;
}

std::string readable(const std::string& text) {
  const auto printable = [](unsigned char c) { return std::isprint(c) != 0; };
  if (std::all_of(text.begin(), text.end(), printable)) return text;
  return '<' + std::to_string(text.size()) + '>';
}

std::string with_names(std::string text, const names& owners) {
  for (const auto& [id, name] : owners)
    for (std::size_t at; (at = text.find(id)) != std::string::npos;)
      text.replace(at, id.size(), name);
  return text;
}

std::string value_of(redis_server& server, const std::string& key, const std::string& type) {
  const auto pairs = [](const testkit::redis_reply& reply, bool with_values) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i + 1 < reply.items.size(); i += 2)
      all.push_back(readable(reply.items[i].text) +
                    (with_values ? '=' + reply.items[i + 1].text : ""));
    return all;
  };
  std::vector<std::string> all;
  if (type == "string") all = {readable(server.command({"GET", key}).text)};
  if (type == "hash") all = pairs(server.command({"HGETALL", key}), true);
  if (type == "zset") all = pairs(server.command({"ZRANGE", key, "0", "-1", "WITHSCORES"}), false);
  if (type == "list")
    for (const auto& item : server.command({"LRANGE", key, "0", "-1"}).items)
      all.push_back(readable(item.text));
  if (type == "hash") std::sort(all.begin(), all.end());
  std::string joined;
  for (const std::string& one : all) joined += ' ' + one;
  return joined;
}

}  // namespace

void with_redisson::SetUp() {
  if (!redis_server::installed()) GTEST_SKIP() << redis_server::not_installed;
  const std::string& why_not = testkit::redisson_peer::unavailable();
  if (!why_not.empty()) GTEST_SKIP() << why_not;
}

redisson_client::redisson_client(const deployment& on, const std::string& options) {
  static int count = 0;
  name_ = 'c' + std::to_string(++count);
  uuid_ = ask("main", "open " + on.url + " connections=4 " + options);
  EXPECT_EQ(uuid_.size(), 36u) << uuid_;
}

redisson_client::~redisson_client() { crash(); }

void redisson_client::crash() {
  if (open_) ask("main", "close");
  open_ = false;
}

call redisson_client::send(const std::string& thread, const std::string& words) const {
  return jvm().send(name_ + ' ' + thread + ' ' + words);
}

std::string redisson_client::ask(const std::string& thread, const std::string& words) const {
  return text_of(send(thread, words).wait());
}

std::string redisson_client::owner(const std::string& thread) const {
  return uuid_ + ':' + ask(thread, "thread");
}

std::string text_of(const testkit::peer_answer& answer) {
  return answer.ok ? answer.text : "failed: " + answer.text;
}

std::string contents(redis_server& server, const names& owners) {
  std::vector<std::string> lines;
  for (const auto& item : server.command({"KEYS", "*"}).items) {
    const std::string& key = item.text;
    const std::string type = server.command({"TYPE", key}).text;
    if (type == "none") continue;
    const bool ends = ttl_of(server, key) >= 0;
    lines.push_back(key + ' ' + type + value_of(server, key, type) + (ends ? " ttl\n" : "\n"));
  }
  for (std::string& line : lines) line = with_names(line, owners);
  std::sort(lines.begin(), lines.end());
  std::string all;
  for (const std::string& line : lines) all += line;
  return all;
}

message_log::message_log(redis_server& server) : server_(server), link_(server.link()) {
  link_.command({"PSUBSCRIBE", "*"});
}

std::string message_log::heard(const names& owners) {
  server_.command({"PUBLISH", "all of them", ""});
  std::string all;
  for (;;) {
    const auto message = link_.receive();  // pmessage, pattern, channel, payload
    if (message.items.size() != 4) continue;
    if (message.items[2].text == "all of them") return with_names(all, owners);
    all += message.items[2].text + ' ' + message.items[3].text + '\n';
  }
}

long long ttl_of(redis_server& server, const std::string& key) {
  return server.command({"PTTL", key}).number;
}

long long calls_of(redis_server& server, const std::string& command) {
  const std::string all = server.command({"INFO", "commandstats"}).text;
  const std::string field = "cmdstat_" + command + ":calls=";
  const auto at = all.find(field);
  return at == std::string::npos ? 0 : std::stoll(all.substr(at + field.size()));
}

bool is_subscribed(redis_server& server, const std::string& channel) {
  const auto reply = server.command({"PUBSUB", "NUMSUB", channel});
  return reply.items.size() == 2 && reply.items[1].number > 0;
}

}  // namespace holdfast::redisson_test
