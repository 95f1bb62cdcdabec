// Outages of one server of any kind. It keeps its data.
#pragma once
#include <chrono>
#include <thread>

#include "contention/dice.hpp"

namespace holdfast::torture {

template <class Server>
void kill_and_start(Server& server, std::chrono::milliseconds outage) {
  server.kill_hard();
  std::this_thread::sleep_for(outage);
  server.start();
}
inline std::chrono::milliseconds usual_outage(contention::dice& d) {
  return d.between(std::chrono::milliseconds{20}, std::chrono::milliseconds{1500});
}

template <class Server>
void stop_and_go_on(Server& server, contention::dice& d) {
  server.stop();
  std::this_thread::sleep_for(
      d.between(std::chrono::milliseconds{50}, std::chrono::milliseconds{3000}));
  server.go_on();
}

}  // namespace holdfast::torture
