// A wait for what announces itself to nobody.
#pragma once
#include <chrono>
#include <functional>

namespace holdfast::testkit {

// Whether the fact comes true within the bound. It is checked every millisecond at first. The
// pauses grow with the time that has passed, up to 20 ms: long waits leave the processor to other
// tests.
bool eventually(const std::function<bool()>& fact,
                std::chrono::milliseconds bound = std::chrono::seconds{100});

}  // namespace holdfast::testkit
