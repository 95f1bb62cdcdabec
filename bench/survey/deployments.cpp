#include "scratch_folder.hpp"
#include "survey/deployment.hpp"

namespace survey {
namespace {

class folder final : public deployment {
 public:
  std::string url() const override { return folder_.url(); }

 private:
  bench::scratch_folder folder_;
};

std::unique_ptr<deployment> make_folder() { return std::make_unique<folder>(); }
const char* nothing_missing() { return nullptr; }

constexpr topology of_files[] = {
    {"file", "a directory of this machine", "file", make_folder, nothing_missing},
};

std::vector<topology> collect() {
  std::vector<topology> all;
  const auto append = [&all](std::span<const topology> some) {
    all.insert(all.end(), some.begin(), some.end());
  };
  append(of_files);
#ifdef HOLDFAST_WITH_MYSQL
  append(mysql_topologies());
#endif
#ifdef HOLDFAST_WITH_ZOOKEEPER
  append(zookeeper_topologies());
#endif
#ifdef HOLDFAST_WITH_REDIS
  append(redis_topologies());
#endif
  return all;
}

}  // namespace

std::span<const topology> topologies() noexcept {
  static const std::vector<topology> all = collect();
  return all;
}

}  // namespace survey
