// The record of a lock file, which its claim reads repeatedly.
#include "backend/file/record_view.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "testkit/servers/scratch_folder.hpp"

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

}  // namespace
}  // namespace holdfast::file
