#include "backend/redis/diagnosis/several_servers.hpp"

#include <string>
#include <utility>
#include <vector>

#include "backend/redis/diagnosis/joint_findings.hpp"
#include "backend/redis/transport/transport.hpp"

namespace holdfast::redis {

namespace {

class findings_of_servers final : public joint_findings {
 public:
  findings_of_servers(std::span<transport* const> nodes, const std::vector<std::string>& names,
                      seam::findings_handler& to)
      : joint_findings(names, to), nodes_(nodes), names_(names) {}

 private:
  std::vector<finding> findings_about(std::size_t i) const override {
    std::string why;
    {
      const std::lock_guard guard(nodes_[i]->reactor().mutex());
      why = nodes_[i]->read_status().trouble.text;
    }
    if (why.empty()) return {};
    return {{"vote", finding_grade::bad, names_[i] + " does not vote: " + why, {}}};
  }

  const std::span<transport* const> nodes_;
  const std::vector<std::string> names_;
};

}  // namespace

void start_diagnosis(std::span<transport* const> nodes, std::span<const endpoint> endpoints,
                     std::span<const layout_needs> of_layouts, seam::findings_handler& to) {
  std::vector<std::string> names;
  for (const endpoint& e : endpoints) names.push_back(base::text_of(e.where));
  joint_findings& all = *new findings_of_servers(nodes, names, to);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    start_diagnosis(*nodes[i], endpoints[i], of_layouts, all.part(i));
}

}  // namespace holdfast::redis
