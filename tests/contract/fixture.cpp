#include "fixture.hpp"

#include "testkit/eventually.hpp"

namespace contract {

kind fixture::own_kind() const {
  switch (mode_) {
    case mode::writer: return kind::writer;
    case mode::shared: return kind::reader;
    case mode::permit: return kind::permit;
    case mode::recursive: return kind::recursive;
    case mode::exclusive: break;
  }
  return kind::mutex;
}

kind fixture::rival_kind() const {
  switch (mode_) {
    case mode::writer: return kind::reader;
    case mode::shared: return kind::writer;
    case mode::permit: return kind::permit;
    case mode::recursive:
    case mode::exclusive: break;
  }
  return kind::mutex;
}

holdfast::lock_mode fixture::taken_as() const {
  if (mode_ == mode::shared) return holdfast::lock_mode::shared;
  return mode_ == mode::permit ? holdfast::lock_mode::permit : holdfast::lock_mode::exclusive;
}

bool becomes(const std::function<bool()>& condition) {
  return holdfast::testkit::eventually(condition, generous);
}

std::vector<holdfast::holder> shown_by(const holdfast::client& client, std::size_t many) {
  std::vector<holdfast::holder> shown;
  becomes([&] {
    shown = client.list();
    return shown.size() >= many;
  });
  return shown;
}

bool comes(const std::stop_token& token) {
  return becomes([&] { return token.stop_requested(); });
}

bool finds_busy(contender& one, const std::string& lock) {
  if (one.ask("try " + lock) == "busy") return true;
  one.ask("release " + lock);
  return false;
}

std::int64_t token_of(const std::string& answer) {
  constexpr std::string_view granted = "granted ";
  if (!answer.starts_with(granted)) return 0;
  return std::max<std::int64_t>(std::stoll(answer.substr(granted.size())), 1);
}

}  // namespace contract
