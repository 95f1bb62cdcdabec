# What the redis backend needs beside the network: hiredis' parser, and its scripts as C++.
find_package(PkgConfig REQUIRED)
pkg_check_modules(hiredis REQUIRED IMPORTED_TARGET hiredis)

# Each script stands behind shared.lua, some behind members.lua too, but those that are not about
# one lock.
function(holdfast_redis_scripts output)
  set(folder ${PROJECT_SOURCE_DIR}/src/backend/redis/layouts/string/scripts)
  file(READ ${folder}/shared.lua shared)
  file(READ ${folder}/members.lua members)
  set(entries "")
  foreach(name join enter release part leave renew renew_members resolve downgrade take_away raise
      let_go pass gather guard guarded_write)
    file(READ ${folder}/${name}.lua text)
    if(name STREQUAL "guarded_write")
      file(READ ${folder}/guard.lua guard)
      string(PREPEND text "${guard}")
    elseif(name MATCHES "^(enter|part|leave|take_away)$")
      string(PREPEND text "${shared}${members}")
    elseif(NOT name MATCHES "^(renew|renew_members|raise|let_go|pass|gather|guard)$")
      string(PREPEND text "${shared}")
    endif()
    string(SHA1 hash "${text}")
    string(APPEND entries "    {R\"lua(${text})lua\", \"${hash}\"},\n")
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
      ${folder}/${name}.lua)
  endforeach()
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    ${folder}/shared.lua ${folder}/members.lua)
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT "\
#include \"backend/redis/layouts/string/scripts.hpp\"

namespace holdfast::redis {

const script& script_of(script_name name) noexcept {
  static constexpr script all[] = {
@entries@  };
  return all[static_cast<unsigned>(name)];
}

}  // namespace holdfast::redis
")
endfunction()

set(holdfast_redis_scripts_file ${PROJECT_BINARY_DIR}/generated/redis_scripts.cpp)
holdfast_redis_scripts(${holdfast_redis_scripts_file})
