// What an operator should know of a server: whether it can keep the promises of its locks.
#pragma once
#include "backend/mysql/settings.hpp"
#include "backend/mysql/transport/transport.hpp"
#include "seam/result_handler.hpp"

namespace holdfast::mysql {

void start_diagnosis(transport&, const settings&, seam::findings_handler&);

}  // namespace holdfast::mysql
