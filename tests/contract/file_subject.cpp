#include <unistd.h>

#include "subject.hpp"
#include "testkit/servers/scratch_folder.hpp"

namespace contract {
namespace {

class file_subject final : public subject {
 public:
  std::string url() const override { return "file://" + folder_.path().string(); }
  std::string short_lived_url() const override { return url(); }
  void lose_leases_of(const holdfast::client& c) override { holdfast::client(c).close(); }

 private:
  const holdfast::testkit::scratch_folder folder_;
};

// A directory of several users, who remove unused files.
class shared_file_subject final : public subject {
 public:
  std::string url() const override {
    return "file://" + folder_.file("locks") + "?unlink=1&group=" + std::to_string(::getegid());
  }
  std::string short_lived_url() const override { return url(); }
  void lose_leases_of(const holdfast::client& c) override { holdfast::client(c).close(); }

 private:
  const holdfast::testkit::scratch_folder folder_;
};

}  // namespace

std::unique_ptr<subject> make_file_subject(std::string_view) {
  return std::make_unique<file_subject>();
}

std::unique_ptr<subject> make_shared_file_subject(std::string_view) {
  return std::make_unique<shared_file_subject>();
}

}  // namespace contract
