// The settings that a backend reads from a URL, or why it refuses the URL.
#pragma once
#include <holdfast/error.hpp>

#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "seam/client_options.hpp"
#include "seam/registry.hpp"
#include "testkit/manual_environment.hpp"

namespace holdfast::settings_unit {

template <class Settings>
Settings settings_of(Settings (*read)(const seam::open_args&), std::string_view text,
                     std::string_view password = {}, const base::log_sink& log = {}) {
  static testkit::manual_environment env;
  const url where = url::parse(text);
  std::vector<url::option> own;
  seam::client_options common = seam::read_client_options(where, own);
  common.log = log;
  return read({where, common, own, password, env, {}});
}

struct refusal {  // code {}: there is none
  std::error_code code;
  std::string text;
};

template <class Settings>
refusal refusal_by(Settings (*read)(const seam::open_args&), std::string_view text) {
  try {
    settings_of(read, text);
    return {};
  } catch (const lock_error& e) {
    return {e.code(), e.what()};
  }
}

template <class Settings>
bool keep_the_log(Settings (*read)(const seam::open_args&), std::string_view text) {
  int of_client = 0;
  return settings_of(read, text, {}, {.hook = nullptr, .context = &of_client}).log.context ==
         &of_client;
}

}  // namespace holdfast::settings_unit
