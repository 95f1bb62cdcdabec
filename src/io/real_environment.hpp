// The real environment: CLOCK_BOOTTIME, getrandom, timerfd.
#pragma once
#include "base/environment.hpp"

namespace holdfast::io {

base::environment& real_environment();  // of the process; lives until it ends

}  // namespace holdfast::io
