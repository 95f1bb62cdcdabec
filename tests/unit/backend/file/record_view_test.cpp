// The record of a lock file, which its claim reads repeatedly.
#include "backend/file/record_view.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "testkit/servers/scratch_folder.hpp"
#include "tests/unit/backend/file/reported_file_system.hpp"

namespace holdfast::file {
namespace {

class file_record_view : public ::testing::Test {
 protected:
  void fill(char with) { folder.write("x.lock", std::string(record_bytes, with)); }
  void open() {
    fd =
        descriptors.open([&] { return ::open(folder.file("x.lock").c_str(), O_RDWR | O_CLOEXEC); });
    ASSERT_TRUE(fd);
  }
  std::string read() {
    const auto seen = view.read(fd.get(), descriptors, place, "x.lock");
    return seen ? std::string(seen->begin(), seen->end()) : "nothing";
  }

  bool is_mapped() const {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
      if (line.ends_with(folder.file("x.lock"))) return true;
    return false;
  }

  const testkit::scratch_folder folder;
  descriptor_table descriptors;
  directory place{descriptors, url::parse("file:"), folder.path().string(), {}};
  descriptor fd;
  record_view view;
};

TEST_F(file_record_view, shows_what_is_written_later) {
  fill('a');
  open();
  for (const char with : {'a', 'b', 'c', 'd'}) {
    std::fstream(folder.file("x.lock"), std::ios::in | std::ios::out)
        << std::string(record_bytes, with);
    EXPECT_EQ(read(), std::string(record_bytes, with));
  }
}

TEST_F(file_record_view, is_of_the_open_file_though_another_has_its_name) {
  fill('a');
  open();
  std::filesystem::remove(folder.file("x.lock"));
  fill('b');
  for (int i = 0; i < 3; ++i) EXPECT_EQ(read(), std::string(record_bytes, 'a')) << i;
}

TEST_F(file_record_view, is_as_short_as_a_file_at_its_first_reading) {
  folder.write("x.lock", "short");
  open();
  EXPECT_EQ(read(), "short");
}

TEST_F(file_record_view, of_the_next_file_is_not_that_of_the_one_before) {
  fill('a');
  open();
  read();
  EXPECT_EQ(read(), std::string(record_bytes, 'a'));
  std::filesystem::remove(folder.file("x.lock"));
  fill('b');
  open();
  view.forget();
  EXPECT_EQ(read(), std::string(record_bytes, 'b'));
}

TEST_F(file_record_view, is_a_mapping_from_its_second_reading_until_it_is_forgotten) {
  fill('a');
  open();
  read();
  EXPECT_FALSE(is_mapped()) << "a single reading is not worth it";
  read();
  EXPECT_TRUE(is_mapped());
  view.forget();
  EXPECT_FALSE(is_mapped());
}

// Another host's writes may not become visible in a mapping, and another user may cut the file.
TEST_F(file_record_view, is_no_mapping_on_a_network_file_system_or_in_a_directory_of_a_group) {
  const reported_file_system reported(nfs_type);
  const std::string shared = folder.file("shared");
  const directory on_network(descriptors, url::parse("file:"), folder.path().string(),
                             {.network = true});
  const directory of_group(descriptors, url::parse("file:"), shared,
                           {.network = true, .group = std::to_string(::getegid())});
  fill('a');
  open();
  for (int i = 0; i < 3; ++i) view.read(fd.get(), descriptors, on_network, "x.lock");
  EXPECT_FALSE(is_mapped());
  view.forget();
  std::filesystem::rename(folder.file("x.lock"), shared + "/x.lock");
  for (int i = 0; i < 3; ++i) view.read(fd.get(), descriptors, of_group, "x.lock");
  EXPECT_FALSE(is_mapped());
}

}  // namespace
}  // namespace holdfast::file
