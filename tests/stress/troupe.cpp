#include "troupe.hpp"

namespace stress {

troupe::troupe(const std::vector<std::string>& urls, std::size_t threads_each, const casting& cast,
               std::uint64_t seed) {
  for (const auto& url : urls) clients_.push_back(holdfast::client::open(url));
  for (std::size_t i = 0; i < clients_.size() * threads_each; ++i) {
    threads_.emplace_back([this, cast, i, seed] {
      const auto which = i % clients_.size();
      const auto name = "client" + std::to_string(which) + '.' + std::to_string(i);
      const auto one = cast(clients_[which], name, writer_, resource_, seed + i);
      for (; !over_; ++plays_) one->play();
    });
  }
}

void troupe::end() {
  over_ = true;
  threads_.clear();
  clients_.clear();
}

std::vector<holdfast::history::record> troupe::history() const {
  return holdfast::history::read_history(folder_.file("history")).records;
}

}  // namespace stress
