#include "backend/redis/topologies/sentinel/sentinel_link.hpp"

#include <utility>

#include "backend/redis/transport/error_text.hpp"
#include "base/number.hpp"

namespace holdfast::redis {

using base::event_queue;
using base::failure;

namespace {

constexpr std::string_view channel_of_switches = "+switch-master";

// The value of a field in a list of names and values; empty: the list has no such field.
std::string_view field_of(const value& list, std::string_view name) noexcept {
  for (std::size_t i = 0; i + 1 < list.size(); i += 2)
    if (list[i].text() == name) return list[i + 1].text();
  return {};
}

base::address address_of(std::string_view host, std::string_view port) {
  base::address out;
  out.host = host;
  out.port = base::leading_number<int>(port);
  return out;
}

base::address address_in(const value& fields) {
  return address_of(field_of(fields, "ip"), field_of(fields, "port"));
}

// The remedies for passwords name the options of the servers.
std::string with_own_options(std::string text) {
  constexpr std::string_view of_servers = "?password-", of_sentinels = "?sentinel-password-";
  for (auto at = text.find(of_servers); at != text.npos;
       at = text.find(of_servers, at + of_sentinels.size()))
    text.replace(at, of_servers.size(), of_sentinels);
  return text;
}

// For a URL that names a server where a sentinel should be.
failure not_a_sentinel(const value& error) {
  if (error.text().find("unknown command") != std::string_view::npos)
    return {errc::bad_url, "a Redis server answers there, and no sentinel; the default port of "
                           "sentinels is 26379"};
  const error_meaning* const m = meaning_of(error.text());
  return {m ? m->why : errc::refused, explain(error.text())};
}

}  // namespace

sentinel_link::sentinel_link(io::client_reactor& r, endpoint e, bool is_in_url,
                             const std::string& name, listener& l)
    : side_connection_owner(r),
      endpoint_(std::move(e)),
      name_(name),
      listener_(l),
      asks_(*this, endpoint_, lane::commands, channels_),
      hears_(*this, endpoint_, lane::messages, channels_) {
  for (std::size_t i = 0; i < questions; ++i)
    replies_[i] = reply_function(
        std::bind_front(&sentinel_link::on_answered, this, static_cast<question>(i)));
  state_.address = base::text_of(endpoint_.where);
  state_.is_in_url = is_in_url;
  channels_.add(channel_of_switches, *this);
}

std::shared_ptr<io::attached_stream> sentinel_link::connect(connection& c, failure& why) {
  return reactor_.connect(c, endpoint_.where, endpoint_.tls_or_none(), base::driven_by::thread,
                          why);
}

void sentinel_link::ask(time_point now) {
  hears_.open(now);
  if (!asks_.is_ready()) {
    asks_.retry_now(now);
    return asks_.open(now);
  }
  if (std::exchange(is_asking_, true)) return;
  pending_ = {};
  for (std::size_t i = 0; i < questions; ++i) request(static_cast<question>(i), now);
  reactor_.request_flush_of_own_loop(true);
}

// The master comes last: what its sentinel says of it belongs to an answer that is complete.
void sentinel_link::request(question q, time_point now) {
  std::string& out = asks_.out();
  switch (q) {
    case question::id: append_command(out, "SENTINEL", "MYID"); break;
    case question::masters: append_command(out, "ROLE"); break;
    case question::others: append_command(out, "SENTINEL", "SENTINELS", name_); break;
    case question::replicas: append_command(out, "SENTINEL", "REPLICAS", name_); break;
    case question::epoch: append_command(out, "SENTINEL", "MASTER", name_); break;
    case question::master: append_command(out, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", name_); break;
  }
  asks_.expect(replies_[static_cast<std::size_t>(q)], 1, now, attended::in_background);
}

void sentinel_link::on_answered(question q, const value& v, const reply_context& c) {
  switch (q) {
    case question::id: pending_.id = v.is(value::kind::error) ? "" : v.text(); return;
    case question::masters:
      for (std::size_t i = 0; i < v[1].size(); ++i)
        pending_.monitored.append(i == 0 ? "" : ", ").append(v[1][i].text());
      return;
    case question::others:
      if (!v.is(value::kind::array)) return;
      pending_.others.emplace();
      for (std::size_t i = 0; i < v.size(); ++i)
        pending_.others->push_back({std::string(field_of(v[i], "runid")), address_in(v[i])});
      return;
    case question::replicas:
      for (std::size_t i = 0; i < v.size(); ++i)
        pending_.replicas.push_back(
            {address_in(v[i]), base::leading_number<int>(field_of(v[i], "slave-priority"))});
      return;
    case question::epoch:
      pending_.epoch = base::leading_number<std::uint64_t>(field_of(v, "config-epoch"));
      return;
    case question::master: break;
  }
  is_asking_ = false;
  if (v.is(value::kind::error)) {
    state_.answer.reset();
    return asks_.refuse(not_a_sentinel(v), c.now, c.events);
  }
  if (v.size() == 2) pending_.master = address_of(v[0].text(), v[1].text());
  state_.answer = std::move(pending_);
  state_.fault = {};
  listener_.on_reported(c.now, c.events);
}

void sentinel_link::on_ready(connection& c, time_point now, event_queue& events) {
  if (&c == &asks_) return ask(now);
  channels_.notify_subscribed(now, events);
}

void sentinel_link::on_down(connection& c, const failure& why, loss, time_point now,
                            event_queue& events) {
  if (&c == &hears_) {
    channels_.on_lost();
    return;
  }
  is_asking_ = false;
  state_.answer.reset();
  state_.fault = {why.code, with_own_options(why.text)};
  listener_.on_reported(now, events);
}

void sentinel_link::on_alarm(time_point now, event_queue& events) {
  asks_.on_alarm(now, events);
  hears_.on_alarm(now, events);
}

void sentinel_link::write(std::unique_lock<std::mutex>& lock) noexcept {
  const auto nothing_more = [](connection&) {};
  write_out(asks_, lock, nothing_more);
  write_out(hears_, lock, nothing_more);
}

}  // namespace holdfast::redis
