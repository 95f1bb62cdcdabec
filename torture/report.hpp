// What campaigns report: to a reader, to a file of results, and as tables of Markdown.
#pragma once
#include <string>
#include <vector>

#include "torture/campaign.hpp"

namespace holdfast::torture {

std::string to_text(const campaign_result&);

// Appends one line. Throws std::system_error.
void append_result(const std::string& file, const campaign_result&);
// Throws std::runtime_error, for a line that is not one of append_result() too.
std::vector<campaign_result> read_results(const std::string& file);
// The sums of each backend, and how often each fault struck it.
std::string to_markdown(const std::vector<campaign_result>&);

}  // namespace holdfast::torture
