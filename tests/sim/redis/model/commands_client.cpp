// Commands about the client itself and about other clients.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/redis/model/command_list.hpp"
#include "tests/sim/redis/model/number_text.hpp"
#include "tests/sim/redis/model/server.hpp"

namespace holdfast::sim {
namespace {

constexpr std::string_view wrong_password =
    "WRONGPASS invalid username-password pair or user is disabled.";

void run_ping(call& c) {
  if (c.argv.size() > 2) return c.out.error("ERR wrong number of arguments for 'ping' command");
  if (c.by.channels.empty())
    return c.argv.size() == 1 ? c.out.status("PONG") : c.out.bulk(c.argv[1]);
  c.out.array(2);
  c.out.bulk("pong");
  c.out.bulk(c.argv.size() == 1 ? "" : c.argv[1]);
}

void run_echo(call& c) { c.out.bulk(c.argv[1]); }

void run_quit(call& c) {
  c.out.status("OK");
  c.by.closing = true;
}

bool trusts(const server& s, std::string_view user, std::string_view password) {
  const auto known = s.passwords.find(user);
  return known == s.passwords.end() ? user == "default" : known->second == password;
}

void run_auth(call& c) {
  if (c.argv.size() > 3) return c.out.error(syntax_error);
  const bool named = c.argv.size() == 3;
  if (!named && !c.on.passwords.contains("default"))
    return c.out.error(
        "ERR AUTH <password> called without any password configured for the default user. Are you "
        "sure your configuration is correct?");
  if (!trusts(c.on, named ? c.argv[1] : "default", c.argv.back()))
    return c.out.error(wrong_password);
  c.by.trusted = true;
  c.out.status("OK");
}

void run_hello(call& c) {
  const auto version = c.argv.size() > 1 ? whole_number(c.argv[1]) : 2;
  if (!version) return c.out.error("ERR Protocol version is not an integer or out of range");
  if (*version != 2 || c.argv.size() > 2)
    return c.out.error("NOPROTO the model speaks RESP2 only, and takes no options of HELLO");
  if (!c.by.trusted)
    return c.out.error(
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
        "AUTH <user> <pass> option can be used to authenticate the client and select the RESP "
        "protocol version at the same time");
  const auto text = [&](std::string_view name, std::string_view value) {
    c.out.bulk(name);
    c.out.bulk(value);
  };
  c.out.array(c.on.sentinels ? 12 : 14);
  text("server", "redis");
  text("version", "7.0.15");
  c.out.bulk("proto");
  c.out.integer(2);
  c.out.bulk("id");
  c.out.integer(c.by.id);
  text("mode", c.on.sentinels ? "sentinel" : "standalone");
  if (!c.on.sentinels) text("role", c.on.readonly ? "replica" : "master");
  c.out.bulk("modules");
  c.out.array(0);
}

void run_select(call& c) {
  const auto index = whole_number(c.argv[1]);
  if (!index) return c.out.error(not_an_integer);
  if (*index < 0 || *index >= static_cast<long long>(c.on.databases.size()))
    return c.out.error("ERR DB index is out of range");
  c.by.database = static_cast<std::size_t>(*index);
  c.out.status("OK");
}

void run_client(call& c) { c.out.error("ERR wrong number of arguments for 'client' command"); }

void run_setname(call& c) {
  const auto name = c.argv[2];
  if (std::any_of(name.begin(), name.end(), [](char ch) { return ch < '!' || ch > '~'; }))
    return c.out.error("ERR Client names cannot contain spaces, newlines or special characters.");
  c.by.name = name;
  c.out.status("OK");
}

void run_getname(call& c) { c.by.name.empty() ? c.out.null() : c.out.bulk(c.by.name); }
void run_client_id(call& c) { c.out.integer(c.by.id); }

void run_no_evict(call& c) {
  if (!same_word(c.argv[2], "on") && !same_word(c.argv[2], "off")) return c.out.error(syntax_error);
  c.out.status("OK");
}

std::string address_of(const connection& c) {
  return "127.0.0.1:" + std::to_string(20'000 + c.handle % 40'000);
}

std::string description(const server& s, const connection& c) {
  return "id=" + std::to_string(c.id) + " addr=" + address_of(c) + " laddr=" + s.address.ip + ':' +
         std::to_string(s.address.port) + " fd=8" + " name=" + c.name +
         " age=0 idle=0 flags=" + (c.channels.empty() ? "N" : "P") +
         " db=" + std::to_string(c.database) + " sub=" + std::to_string(c.channels.size()) +
         " psub=0 ssub=0 multi=-1 user=default resp=2\n";
}

void run_client_info(call& c) { c.out.bulk(description(c.on, c.by)); }

void run_client_list(call& c) {
  if (c.argv.size() > 2) return c.out.error("ERR the model takes no options of CLIENT LIST");
  std::string all;
  for (const auto& [handle, one] : c.on.connections) all += description(c.on, *one);
  c.out.bulk(all);
}

struct kill_terms {
  std::optional<long long> id;
  std::optional<std::string_view> address;
  std::optional<bool> subscribed;
  bool skip_me = true;

  bool mean(const connection& one) const {
    return (!id || *id == one.id) && (!address || *address == address_of(one)) &&
           (!subscribed || *subscribed == !one.channels.empty());
  }
};

// Empty when the option was taken.
std::string take_kill_option(std::string_view word, std::string_view value, kill_terms& terms) {
  if (same_word(word, "id")) {
    terms.id = whole_number(value);
    return terms.id.value_or(0) > 0 ? "" : "ERR client-id should be greater than 0";
  }
  if (same_word(word, "type")) {
    const bool pubsub = same_word(value, "pubsub");
    if (!pubsub && !same_word(value, "normal"))
      return "ERR Unknown client type '" + std::string(value) + "'";
    terms.subscribed = pubsub;
  } else if (same_word(word, "addr")) {
    terms.address = value;
  } else if (same_word(word, "skipme") && (same_word(value, "yes") || same_word(value, "no"))) {
    terms.skip_me = same_word(value, "yes");
  } else {
    return std::string(syntax_error);
  }
  return {};
}

long long kill_all_meant(call& c, const kill_terms& terms) {
  std::vector<int> victims;
  for (const auto& [handle, one] : c.on.connections)
    if (terms.mean(*one) && !(terms.skip_me && one.get() == &c.by)) victims.push_back(handle);
  for (const int handle : victims) {
    if (handle == c.by.handle) {
      c.by.closing = true;
    } else {
      c.on.close(handle, true);
    }
  }
  return static_cast<long long>(victims.size());
}

void run_client_kill(call& c) {
  kill_terms terms;
  if (c.argv.size() == 3) {
    terms.address = c.argv[2];
    terms.skip_me = false;
    if (kill_all_meant(c, terms) == 0) return c.out.error("ERR No such client");
    return c.out.status("OK");
  }
  if (c.argv.size() % 2 != 0) return c.out.error(syntax_error);
  for (std::size_t at = 2; at < c.argv.size(); at += 2)
    if (const auto error = take_kill_option(c.argv[at], c.argv[at + 1], terms); !error.empty())
      return c.out.error(error);
  c.out.integer(kill_all_meant(c, terms));
}

constexpr unsigned of_clients = not_in_scripts | while_loading | of_sentinels_too;

constexpr std::array list_of_clients{
    command{"ping", -1, while_subscribed | of_sentinels_too, run_ping},
    command{"echo", 2, while_loading, run_echo},
    command{"quit", -1, of_clients | before_auth | while_subscribed | never_queued, run_quit},
    command{"auth", -2, of_clients | before_auth, run_auth},
    command{"hello", -1, of_clients | before_auth, run_hello},
    command{"select", 2, while_loading, run_select},
    command{"client", -2, of_clients | has_subcommands, run_client},
    command{"client|setname", 3, of_clients, run_setname},
    command{"client|getname", 2, of_clients, run_getname},
    command{"client|id", 2, of_clients, run_client_id},
    command{"client|no-evict", 3, of_clients, run_no_evict},
    command{"client|info", 2, of_clients, run_client_info},
    command{"client|list", -2, of_clients, run_client_list},
    command{"client|kill", -3, of_clients, run_client_kill},
};

}  // namespace

std::span<const command> client_commands() { return list_of_clients; }

}  // namespace holdfast::sim
