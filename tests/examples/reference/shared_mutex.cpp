#include <holdfast/holdfast.hpp>

#include <mutex>
#include <shared_mutex>
#include <string>

std::string read_settings();
void write_settings(const std::string& text, std::int64_t token);

std::string current_settings(const holdfast::client& client) {
  holdfast::shared_mutex settings = client.shared_mutex("settings");
  const std::shared_lock reading(settings);  // together with other readers, never with a writer
  return read_settings();
}

void replace_settings(const holdfast::client& client, const std::string& text) {
  holdfast::shared_mutex settings = client.shared_mutex("settings");
  const std::unique_lock writing(settings);
  write_settings(text, settings.current().token());
}
