#include <stdlib.h>

#include <filesystem>
#include <system_error>

#include "subject.hpp"

namespace contract {
namespace {

class file_subject final : public subject {
 public:
  file_subject() {
    char name[] = "/tmp/holdfast-contract-XXXXXX";
    if (::mkdtemp(name) == nullptr)
      throw std::system_error(errno, std::generic_category(), "no folder for the file backend");
    folder_ = name;
  }
  ~file_subject() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  std::string url() const override { return "file://" + folder_; }
  std::string short_lived_url() const override { return url(); }
  void lose_leases_of(const holdfast::client& c) override { holdfast::client(c).close(); }

 private:
  std::string folder_;
};

}  // namespace

std::unique_ptr<subject> make_file_subject() { return std::make_unique<file_subject>(); }

}  // namespace contract
