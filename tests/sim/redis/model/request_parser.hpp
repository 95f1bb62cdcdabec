// Commands as clients send them: RESP arrays of bulk strings.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sim {

enum class parsed { whole, part, broken };

// Takes one command off the front of `bytes`; `argv` points into them and is empty for "*0".
// `part`: nothing was taken. `broken`: `complaint` is what Redis says before it closes.
parsed parse_request(std::string_view& bytes, std::vector<std::string_view>& argv,
                     std::string& complaint);

}  // namespace holdfast::sim
