// The versions of holdfast and of the servers.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace survey {

// Each name with the version that its program reports; without those that are not installed.
std::vector<std::pair<std::string, std::string>> versions_here();
std::string without_password(const std::string& url);

}  // namespace survey
