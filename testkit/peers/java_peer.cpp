#include "testkit/peers/java_peer.hpp"

namespace holdfast::testkit {
namespace {

constexpr std::chrono::minutes fetch_bound{4};

std::string folder_of(const std::string& name) { return HOLDFAST_PEERS "/" + name; }

std::vector<std::string> command_line(const std::string& name, const std::string& main_class,
                                      jvm_tuning how) {
  std::vector<std::string> words{"java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:-UsePerfData"};
  if (how == jvm_tuning::quick_start) words.push_back("-XX:TieredStopAtLevel=1");
  words.insert(words.end(), {"-cp", class_path_of(name), main_class});
  return words;
}

}  // namespace

std::string class_path_of(const std::string& name) {
  return folder_of(name) + "/classes:" + folder_of(name) + "/jars/*";
}

std::string fetched_from_central(const std::string& name) {
  const scratch_folder scratch;
  program fetch(
      {{HOLDFAST_PEER_SOURCES "/fetch.sh", name, folder_of(name)}, {}, scratch.file("said")});
  const int code = fetch.wait(fetch_bound);
  if (code == 0) return {};
  std::string why = scratch.read("said");
  while (why.ends_with('\n')) why.pop_back();
  if (why.starts_with("skipped: ")) return why;
  return "skipped: the driver of the real " + name + " is not built: " + why;
}

java_peer::java_peer(const std::string& name, const std::string& main_class, jvm_tuning how)
    : line_peer(command_line(name, main_class, how)) {}

}  // namespace holdfast::testkit
