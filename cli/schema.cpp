// holdfast schema
#include <holdfast/client.hpp>

#include <string>

#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/look_arguments.hpp"
#include "cli/message.hpp"
#include "cli/place.hpp"

namespace holdfast::cli {

int schema(int argc, char** argv) {
  const auto arguments = parse_look_arguments(look::schema, argc, argv);
  if (arguments.help) return print(help_text("schema"));
  const place where = place_of(arguments.url);
  const auto statements = client::schema(where.text);
  if (statements.empty())
    throw usage_error("the locks of " + where.shown() +
                      " need no tables; give --url the mysql: URL that your programs use");
  std::string out;
  for (const std::string& statement : statements) out += statement + ";\n";
  return print(out);
}

}  // namespace holdfast::cli
