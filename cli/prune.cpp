// holdfast prune
#include <holdfast/client.hpp>

#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/json.hpp"
#include "cli/look_arguments.hpp"
#include "cli/message.hpp"
#include "cli/place.hpp"

namespace holdfast::cli {

int prune(int argc, char** argv) {
  const auto arguments = parse_look_arguments(look::prune, argc, argv);
  if (arguments.help) return print(help_text("prune"));
  const client where = client::open(place_of(arguments.url).text);
  const std::size_t removed = where.prune();
  if (arguments.json)
    return print(json_text({{{"removed", static_cast<std::int64_t>(removed)}}}) + '\n');
  return print("removed what " + std::to_string(removed) + " unused locks had left\n");
}

}  // namespace holdfast::cli
