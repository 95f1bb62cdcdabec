#include "backend/redis/diagnosis/several_servers.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "backend/redis/transport/transport.hpp"
#include "seam/awaited_answers.hpp"

namespace holdfast::redis {

namespace {

class diagnosis_of_all;

struct diagnosed_server final : seam::findings_handler {
  void on_result(std::vector<finding> all) override;
  void on_failed(base::failure why) override;
  std::string why_unused() const;  // empty: requests go to it

  diagnosis_of_all* home = nullptr;
  transport* over = nullptr;
  std::string address;
  std::vector<finding> found;
};

class diagnosis_of_all final : public seam::awaited_answers {
 public:
  diagnosis_of_all(std::span<transport* const> nodes, std::span<const endpoint> endpoints,
                   seam::findings_handler& to)
      : awaited_answers(nodes.size()), servers_(nodes.size()), to_(to) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      servers_[i].home = this;
      servers_[i].over = nodes[i];
      servers_[i].address = base::text_of(endpoints[i].where);
    }
  }
  seam::findings_handler& server(std::size_t i) noexcept { return servers_[i]; }

 private:
  void conclude() override { to_.on_result(told()); }
  std::vector<finding> told() const {
    std::vector<finding> out;
    for (const diagnosed_server& s : servers_) {
      if (const std::string why = s.why_unused(); !why.empty())
        out.push_back({"vote", finding_grade::bad, s.address + " does not vote: " + why, {}});
      for (const finding& f : s.found)
        if (!is_shared(f)) {
          out.push_back(f);
          out.back().why = s.address + ": " + f.why;
        } else if (&s == &servers_.front()) {
          out.push_back(f);
        }
    }
    return out;
  }
  bool is_shared(const finding& f) const {
    const auto is_same = [&](const finding& other) {
      return other.what == f.what && other.grade == f.grade && other.why == f.why;
    };
    return std::ranges::all_of(servers_, [&](const diagnosed_server& s) {
      return std::ranges::any_of(s.found, is_same);
    });
  }

  std::vector<diagnosed_server> servers_;
  seam::findings_handler& to_;
};

void diagnosed_server::on_result(std::vector<finding> all) {
  home->note([&] { found = std::move(all); });
}

std::string diagnosed_server::why_unused() const {
  const std::lock_guard guard(over->reactor().mutex());
  return over->read_status().trouble.text;
}

void diagnosed_server::on_failed(base::failure why) {
  on_result({{"server", finding_grade::bad, "it cannot be examined: " + why.text, {}}});
}

}  // namespace

void start_diagnosis(std::span<transport* const> nodes, std::span<const endpoint> endpoints,
                     std::span<const layout_needs> of_layouts, seam::findings_handler& to) {
  auto* const all = new diagnosis_of_all(nodes, endpoints, to);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    start_diagnosis(*nodes[i], endpoints[i], of_layouts, all->server(i));
}

}  // namespace holdfast::redis
