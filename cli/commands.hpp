// One function for each `holdfast COMMAND`. argv[0] is the command's word. Each returns the exit
// code and throws usage_error, lock_error and std::system_error.
#pragma once

namespace holdfast::cli {

// The process must end with the code at once and without destructors (std::_Exit): a job may have
// inherited the lock.
int run(int argc, char** argv);

int list(int argc, char** argv);
int top(int argc, char** argv);
int show_holders(int argc, char** argv);
int wait_until_free(int argc, char** argv);
int break_lock(int argc, char** argv);
int prune(int argc, char** argv);
int diagnose(int argc, char** argv);
int explain(int argc, char** argv);
int schema(int argc, char** argv);
int drill(int argc, char** argv);

}  // namespace holdfast::cli
