// What a model of a Redis server answers, as bytes.
#pragma once
#include <string>
#include <string_view>

#include "tests/sim/redis/model/model_redis.hpp"

namespace holdfast::sim {

// The client's end of a connection to a model.
struct collected_answers final : peer {
  void deliver(std::string_view bytes) override { got += bytes; }
  void kicked() override { got += "(closed)"; }
  std::string got;
};

// Over a connection for these requests alone.
inline std::string answers_of_model(model_redis& model, std::string_view requests) {
  collected_answers end;
  const int connection = model.connect(end);
  model.receive(connection, requests);
  model.disconnect(connection);
  return end.got;
}

}  // namespace holdfast::sim
