// What other programs leave in a store, planted to show that the checks after a campaign find it.
#pragma once
#include <memory>

#include "contention/plant.hpp"
#include "torture/deployment.hpp"

namespace holdfast::torture {

// Plants what `planted` names, if it is in the store: left_key, left_channel, left_session or
// left_transaction. It stays as long as the returned object, where it needs a connection.
std::shared_ptr<void> plant_in_store(deployment&, plant planted);

}  // namespace holdfast::torture
