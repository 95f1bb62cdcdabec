// The transaction log of a ZooKeeper server that does not run.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace holdfast::testkit {

// Changes the creation of the node `child` so that its parent has had `count` children after it.
// No request does this in reasonable time: a server counts one by one. Throws std::runtime_error
// when no log in the folder has that creation.
void set_created(const std::filesystem::path& folder, const std::string& child, std::int32_t count);

}  // namespace holdfast::testkit
