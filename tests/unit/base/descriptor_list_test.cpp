#include "base/descriptor_list.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace holdfast::base {
namespace {

int opened() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }
bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

TEST(descriptor_list, closes_each_descriptor_in_it) {
  descriptor_list all;
  const int a = opened(), b = opened();
  all.get().put(a);
  all.get().put(b);
  all.close_all();
  EXPECT_FALSE(is_open(a));
  EXPECT_FALSE(is_open(b));
}

TEST(descriptor_list, closes_no_descriptor_that_was_taken_out) {
  descriptor_list all;
  const int fd = opened();
  descriptor_list::place& place = all.get();
  place.put(fd);
  place.take();
  all.close_all();
  EXPECT_TRUE(is_open(fd));
  ::close(fd);
}

TEST(descriptor_list, reuses_a_place_that_is_free) {
  descriptor_list all;
  descriptor_list::place& first = all.get();
  EXPECT_NE(&all.get(), &first);
  first.take();
  EXPECT_EQ(&all.get(), &first);
}

}  // namespace
}  // namespace holdfast::base
