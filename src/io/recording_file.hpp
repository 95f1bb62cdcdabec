// A recording in a mapped file: it survives SIGKILL, and can be read while its process is stopped.
#pragma once
#include <memory>

#include "base/failure.hpp"
#include "base/recording.hpp"

namespace holdfast::io {

// Null without a failure: $HOLDFAST_RECORDER turns recordings off.
std::unique_ptr<base::recording> make_recording_file(const base::recording_terms&,
                                                     base::failure& why);

}  // namespace holdfast::io
