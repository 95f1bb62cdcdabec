#include "backend/mysql/strategies/named/statements.hpp"

#include "backend/mysql/transport/statement.hpp"

namespace holdfast::mysql::named {

namespace {

constexpr std::int64_t number_max = (1ll << 53) - 1;

}  // namespace

statements::statements(std::string_view database, std::string_view prefix)
    : scope_("holdfast:" + std::string(database) + '/' + std::string(prefix)) {}

std::string statements::text_of(std::string_view name) const { return scope_ + std::string(name); }

std::string statements::try_lock(std::string_view text) const {
  return bound("SELECT GET_LOCK(SHA2(?,256),0),UUID_SHORT()", {text});
}

// Some 30 years: with a longer time MariaDB returns at once.
std::string statements::wait(std::string_view text) const {
  return bound("SELECT GET_LOCK(SHA2(?,256),1000000000)", {text});
}

std::string statements::confirm(std::string_view text) const {
  return bound("SELECT IS_USED_LOCK(SHA2(?,256))=CONNECTION_ID(),UUID_SHORT()", {text});
}

std::string statements::release(std::string_view text) const {
  return bound("SELECT RELEASE_LOCK(SHA2(?,256))", {text});
}

std::string statements::holder(std::string_view text) const {
  return bound("SELECT id,host,time FROM information_schema.processlist "
               "WHERE id=IS_USED_LOCK(SHA2(?,256))",
               {text});
}

// The 8 high bits are the server's id, which another primary has otherwise. Below them: the second
// of the server's start, then a counter. Since 2020 in place of 1970 it fits into 53 bits until
// 2037.
std::int64_t number_of(std::uint64_t uuid_short) noexcept {
  constexpr std::uint64_t low_bits = (1ull << 56) - 1;
  constexpr std::int64_t start_of_2020 = 1577836800ll << 24;
  const auto number = static_cast<std::int64_t>(uuid_short & low_bits) - start_of_2020;
  return number > 0 && number <= number_max ? number : 0;
}

}  // namespace holdfast::mysql::named
