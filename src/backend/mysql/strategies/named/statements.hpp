// The statements of strategy `named`.
//
// The names of such locks are the server's own, shared by all its databases. The name of a lock is
// SHA2('holdfast:DATABASE/PREFIX+NAME', 256): 64 lower-case hexadecimal digits, which MariaDB and
// MySQL compare in the same way and admit whatever the name was.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::mysql::named {

class statements {
 public:
  statements(std::string_view database, std::string_view prefix);

  std::string text_of(std::string_view name) const;  // what is hashed
  // {1: granted | 0: busy | NULL: an error, number}
  std::string try_lock(std::string_view text) const;
  std::string wait(std::string_view text) const;     // {1 | 0 | NULL}
  std::string confirm(std::string_view text) const;  // {1: this connection has it, number}
  std::string release(std::string_view text) const;  // {1 | 0: another's | NULL: free}
  std::string holder(std::string_view text) const;   // {connection id, host, seconds}, or no row
  static std::string heartbeat() { return "SELECT @@read_only"; }

 private:
  const std::string scope_;
};

// The grant number of a UUID_SHORT(): it grows as long as the server's clock does. 0: it is none.
std::int64_t number_of(std::uint64_t uuid_short) noexcept;

}  // namespace holdfast::mysql::named
