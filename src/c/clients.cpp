#include <chrono>
#include <cstdint>

#include "c/handles.hpp"

namespace holdfast::c {
namespace {

std::optional<std::chrono::milliseconds> unless_zero(std::int64_t ms) {
  if (ms == 0) return std::nullopt;
  return std::chrono::milliseconds(ms);
}

std::unique_ptr<holdfast_client> open(const char* url, const holdfast_open_options* options) {
  const holdfast_open_options given = read_options(options, "open");
  auto made = std::make_unique<holdfast_client>();
  holdfast::open_options o;
  o.password = text_or_empty(given.password);
  o.ttl = unless_zero(given.ttl_ms);
  o.grace = unless_zero(given.grace_ms);
  if (given.log) {
    made->log = std::make_shared<log_lines>(log_lines{given.log, given.log_context});
    o.log = &log_lines::pass_on;
    o.log_context = made->log.get();
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the program must not change its environment meanwhile
  if (!url) url = std::getenv("HOLDFAST_URL");
  made->client = url ? client::open(url, o) : client::open();
  made->url = made->client.url_text();
  return made;
}

}  // namespace
}  // namespace holdfast::c

using holdfast::c::reported;

holdfast_errc holdfast_client_open(const char* url, const holdfast_open_options* options,
                                   holdfast_client** client, holdfast_error** error) {
  if (client) *client = nullptr;
  return reported(error, [&] {
    if (!client) holdfast::c::refuse_option("open", "client is NULL");
    *client = holdfast::c::open(url, options).release();
  });
}

const char* holdfast_client_url(const holdfast_client* client) {
  return client ? client->url.c_str() : "";
}

int holdfast_client_close(holdfast_client* client) { return !client || client->client.close(); }

void holdfast_client_free(holdfast_client* client) { delete client; }

holdfast_errc holdfast_is_held(const holdfast_client* client, const char* name, int* held,
                               holdfast_error** error) {
  if (held) *held = 0;
  return reported(error, [&] {
    if (!held) holdfast::c::refuse_option("is_held", "held is NULL");
    *held = holdfast::c::client_of(client).is_held(holdfast::c::text_or_empty(name));
  });
}

holdfast_stop* holdfast_stop_new() {
  try {
    return new holdfast_stop;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void holdfast_stop_request(holdfast_stop* stop) {
  if (stop) stop->source.request_stop();
}

void holdfast_stop_free(holdfast_stop* stop) { delete stop; }
