#include "backend/mysql/strategies/named/strategy.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "backend/mysql/strategies/sql_query.hpp"

namespace holdfast::mysql::named {

namespace {

// The server reports the connection of the holder, and nothing else of it.
class holder_query final : public sql_query<std::vector<holder>> {
 public:
  holder_query(transport& t, std::string_view name, seam::holders_handler& to)
      : sql_query(t, to), name_(name) {}

 private:
  bool read(const sql_reply& r, sql_statement&) override {
    if (r.rows.empty()) return false;
    holder& h = result.emplace_back();
    h.name = name_;
    h.owner = r.cell(0, 0);
    h.host = r.cell(0, 1).substr(0, r.cell(0, 1).find(':'));
    h.waiting = -1;
    return false;
  }

  const std::string name_;
};

}  // namespace

strategy::strategy(base::environment& env, const settings& s)
    : pinned::strategy(env, s, texts_), texts_(s.database, s.prefix) {}

void strategy::holders(std::string_view name, seam::holders_handler& to) {
  (new holder_query(over(), name, to))->start(texts_.holder(texts_.key_of(name)));
}

}  // namespace holdfast::mysql::named
