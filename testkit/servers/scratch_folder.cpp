#include "testkit/servers/scratch_folder.hpp"

#include <stdlib.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>

namespace holdfast::testkit {

scratch_folder::scratch_folder(const std::string& below) {
  std::string name = below + "/holdfast-test-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), "a folder for the test");
  path_ = name;
}

scratch_folder::~scratch_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void scratch_folder::write(const std::string& name, const std::string& text) const {
  std::ofstream to(file(name), std::ios::binary | std::ios::trunc);
  if (!(to << text).flush())
    throw std::system_error(errno, std::generic_category(), "cannot write " + file(name));
}

std::string scratch_folder::read(const std::string& name) const {
  std::ostringstream text;
  const std::ifstream from(file(name), std::ios::binary);
  if (from) text << from.rdbuf();
  return std::move(text).str();
}

}  // namespace holdfast::testkit
