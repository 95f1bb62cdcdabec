#pragma once

namespace holdfast::cli {

// `holdfast run`. argv[0] is the word "run". Returns the exit code; the process must end with it at
// once and without destructors (std::_Exit): a job may have inherited the lock. Throws lock_error,
// usage_error and std::system_error.
int run(int argc, char** argv);

}  // namespace holdfast::cli
