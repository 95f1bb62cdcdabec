#include "torture/disk_faults.hpp"

#include <chrono>
#include <thread>

namespace holdfast::torture {

using namespace std::chrono_literals;

void fill_for_a_while(const testkit::small_disk& disk, dice& d) {
  disk.fill();
  std::this_thread::sleep_for(d.between(50ms, 2s));
  disk.make_room();
}

void forbid_writes_for_a_while(const testkit::small_disk& disk, dice& d) {
  disk.make_read_only();
  std::this_thread::sleep_for(d.between(50ms, 2s));
  disk.make_writable();
}

}  // namespace holdfast::torture
