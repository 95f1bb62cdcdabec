#include "tests/interop/zookeeper/request_log.hpp"

#include <array>
#include <map>
#include <mutex>
#include <regex>
#include <span>

#include "backend/zookeeper/transport/jute.hpp"

namespace holdfast::zookeeper_wire {
namespace {

using zookeeper::jute_reader;

constexpr std::int32_t ping = 11;

const char* name_of(std::int32_t opcode) {
  static const std::map<std::int32_t, const char*> names{{1, "create"},
                                                         {2, "delete"},
                                                         {3, "exists"},
                                                         {4, "get_data"},
                                                         {5, "set_data"},
                                                         {8, "get_children"},
                                                         {9, "sync"},
                                                         {12, "get_children2"},
                                                         {13, "check"},
                                                         {14, "multi"},
                                                         {15, "create2"},
                                                         {17, "check_watches"},
                                                         {18, "remove_watches"},
                                                         {19, "create_container"},
                                                         {100, "auth"},
                                                         {101, "set_watches"},
                                                         {105, "set_watches2"},
                                                         {106, "add_watch"},
                                                         {-11, "close_session"}};
  const auto at = names.find(opcode);
  return at == names.end() ? "unknown" : at->second;
}

// After the path: data, access control list, flags.
std::string kind_of_created(jute_reader& body) {
  constexpr std::array modes{"persistent", "ephemeral", "persistent-sequential",
                             "ephemeral-sequential", "container"};
  const std::size_t bytes = body.read_text().size();
  for (std::size_t left = body.read_count(12); left > 0; --left) {
    body.skip(4);
    (void)body.read_text();
    (void)body.read_text();
  }
  const auto mode = static_cast<std::size_t>(body.read_int());
  return std::string(mode < modes.size() ? modes[mode] : "unknown") +
         (bytes > 0 ? " with data" : " without data");
}

std::string described(std::span<const std::byte> frame) {
  jute_reader body(frame);
  body.skip(4);  // the request's number
  const std::int32_t opcode = body.read_int();
  if (opcode == ping) return {};
  std::string line = name_of(opcode);
  const bool has_path = (opcode > 0 && opcode < 14) || (opcode > 14 && opcode < 20);
  if (has_path) line.append(" ").append(body.read_text());
  if (opcode == 1 || opcode == 15 || opcode == 19) line += ' ' + kind_of_created(body);
  if ((opcode == 3 || opcode == 4 || opcode == 8 || opcode == 12) && body.read_bool())
    line += " watch";
  return line + '\n';
}

}  // namespace

std::string with_kinds_of_ids(std::string text) {
  static const std::regex uuid("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), hex("[0-9a-f]{32}");
  return std::regex_replace(std::regex_replace(text, uuid, "<uuid>"), hex, "<hex>");
}

struct request_log::reader {
  std::mutex mutex;
  zookeeper::frame_reader frames;
  bool is_connected = false;  // the first frame asks for a session
  std::string lines;

  void read(const std::string& bytes) {
    const std::lock_guard guard(mutex);
    frames.feed(std::as_bytes(std::span(bytes)), [this](std::span<const std::byte> frame) {
      if (std::exchange(is_connected, true)) lines += described(frame);
      return true;
    });
  }
};

request_log::request_log(int server_port)
    : reader_(std::make_shared<reader>()), proxy_(server_port) {
  proxy_.set(testkit::direction::to_server,
             {.mutate = [r = reader_](std::string& bytes) { r->read(bytes); }});
}

std::string request_log::take() {
  const std::lock_guard guard(reader_->mutex);
  return with_kinds_of_ids(std::exchange(reader_->lines, {}));
}

}  // namespace holdfast::zookeeper_wire
