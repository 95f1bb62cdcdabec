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
                      bool are_in_cluster, seam::findings_handler& to)
      : joint_findings(names, to),
        nodes_(nodes.begin(), nodes.end()),
        names_(names),
        are_in_cluster_(are_in_cluster) {}

 private:
  std::vector<finding> findings_about(std::size_t i) const override {
    std::string why;
    {
      const std::lock_guard guard(nodes_[i]->reactor().mutex());
      why = nodes_[i]->read_status().trouble.text;
    }
    if (why.empty()) return {};
    if (are_in_cluster_)
      return {{"server", finding_grade::bad, names_[i] + " cannot be used: " + why, {}}};
    return {{"vote", finding_grade::bad, names_[i] + " does not vote: " + why, {}}};
  }

  const std::vector<transport*> nodes_;
  const std::vector<std::string> names_;
  const bool are_in_cluster_;
};

}  // namespace

void start_diagnosis(std::span<transport* const> nodes, const std::vector<std::string>& names,
                     const endpoint& e, std::span<const layout_needs> of_layouts,
                     bool are_in_cluster, seam::findings_handler& to) {
  joint_findings::start(std::make_unique<findings_of_servers>(nodes, names, are_in_cluster, to),
                        [&](std::size_t i, seam::findings_handler& part) {
                          start_diagnosis(*nodes[i], e, of_layouts, are_in_cluster, part);
                        });
}

}  // namespace holdfast::redis
