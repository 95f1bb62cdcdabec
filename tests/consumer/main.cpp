// A program of a user of the installed library. Exits 0 if a lock is taken and an exception of the
// library is caught by its type.
#include <holdfast/holdfast.hpp>

#include <filesystem>
#include <iostream>

int main() try {
  const std::string folder = std::filesystem::temp_directory_path() / "holdfast-consumer";
  std::filesystem::create_directories(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  auto client = holdfast::client::open("file://" + folder);
  auto mutex = client.mutex("consumer");
  const holdfast::lease lease = mutex.acquire();
  std::cout << "holdfast " << HOLDFAST_VERSION << ", token " << lease.token() << "\n";
  try {
    client.mutex("");  // a name that is none
  } catch (const holdfast::lock_error& e) {
    std::cout << "caught: " << e.what() << "\n";
    return e.code() == holdfast::errc::bad_name && lease.held() ? 0 : 1;
  }
  return 1;
} catch (const std::exception& e) {
  std::cerr << e.what() << "\n";
  return 1;
}
