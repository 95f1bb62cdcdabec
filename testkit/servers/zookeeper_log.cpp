#include "testkit/servers/zookeeper_log.hpp"

#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace holdfast::testkit {
namespace {

constexpr std::size_t file_head = 16;   // "ZKLG", version, database
constexpr std::size_t entry_head = 12;  // checksum, length
constexpr std::size_t transaction_head = 32;
constexpr std::size_t type_at = 28;
constexpr std::uint64_t type_create = 1, type_create2 = 15;

std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t length) {
  std::uint64_t out = 0;
  for (const char c : bytes.substr(at, length)) out = out << 8 | static_cast<unsigned char>(c);
  return out;
}

void write_number(std::string& bytes, std::size_t at, std::uint64_t n, std::size_t length) {
  for (std::size_t i = length; i-- > 0; n >>= 8) bytes.at(at + i) = static_cast<char>(n & 0xff);
}

// RFC 1950.
std::uint64_t adler32(std::string_view bytes) {
  constexpr std::uint64_t base = 65521;
  std::uint64_t a = 1, b = 0;
  for (const char c : bytes) {
    a = (a + static_cast<unsigned char>(c)) % base;
    b = (b + a) % base;
  }
  return b << 16 | a;
}

// Behind a text or a buffer.
std::size_t behind_text(std::string_view bytes, std::size_t at) {
  const auto length = static_cast<std::int32_t>(number_at(bytes, at, 4));
  return at + 4 + (length > 0 ? static_cast<std::size_t>(length) : 0);
}

// Where the parent's count is in the creation of this node: behind its path, its data, its ACL and
// whether it is ephemeral. None: the transaction is another one.
std::optional<std::size_t> place_of_count(std::string_view transaction, std::string_view child) {
  const std::uint64_t type = number_at(transaction, type_at, 4);
  if (type != type_create && type != type_create2) return {};
  std::size_t at = behind_text(transaction, transaction_head);
  if (transaction.substr(0, at).substr(transaction_head + 4) != child) return {};
  at = behind_text(transaction, at);
  const std::uint64_t entries = number_at(transaction, at, 4);
  at += 4;
  for (std::uint64_t i = 0; i < entries; ++i)
    at = behind_text(transaction, behind_text(transaction, at + 4));
  return at + 1;
}

bool change(std::string& log, std::string_view child, std::int32_t count) {
  for (std::size_t at = file_head; at + entry_head < log.size();) {
    const std::size_t length = number_at(log, at + 8, 4);
    if (length == 0) return false;
    const std::size_t begin = at + entry_head;
    const auto transaction = [&] { return std::string_view(log).substr(begin, length); };
    if (const auto place = place_of_count(transaction(), child)) {
      write_number(log, begin + *place, static_cast<std::uint32_t>(count), 4);
      write_number(log, at, adler32(transaction()), 8);
      return true;
    }
    at = begin + length + 1;  // an end mark
  }
  return false;
}

}  // namespace

void set_created(const std::filesystem::path& folder, const std::string& child,
                 std::int32_t count) {
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (!file.path().filename().string().starts_with("log.")) continue;
    std::ifstream in(file.path(), std::ios::binary);
    std::string log{std::istreambuf_iterator<char>(in), {}};
    if (!change(log, child, count)) continue;
    std::ofstream(file.path(), std::ios::binary) << log;
    return;
  }
  throw std::runtime_error("no log of " + folder.string() + " has the creation of " + child);
}

}  // namespace holdfast::testkit
