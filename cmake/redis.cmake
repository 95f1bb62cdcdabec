# What the redis backend needs beside the network: hiredis' parser, and its scripts as C++.
find_package(PkgConfig REQUIRED)
pkg_check_modules(hiredis REQUIRED IMPORTED_TARGET hiredis)

# Scripts of layout `string`: those about one lock stand behind shared.lua, those about members
# behind members.lua too. Those of `redisson-fair` about the queue stand behind its shared.lua; what
# it lacks itself is as `redisson` has it. Those of `redisson-rw` and of `redisson-permits` stand
# behind a shared.lua of theirs. All others stand alone.
function(holdfast_script_text layout name text_out)
  set(layouts ${PROJECT_SOURCE_DIR}/src/backend/redis/layouts)
  set(files ${name})
  if(layout STREQUAL "string")
    if(name STREQUAL "guarded_write")
      list(PREPEND files guard)
    elseif(name MATCHES "^(member_lock_or_queue|member_release|withdraw|break_lock)$")
      list(PREPEND files shared members)
    elseif(name MATCHES "^(lock_or_queue|release|resolve|downgrade)$")
      list(PREPEND files shared)
    endif()
  elseif(layout STREQUAL "redisson_fair" AND name MATCHES "^(try_lock|release|withdraw)$")
    list(PREPEND files shared)
  elseif(layout STREQUAL "redisson_rw")
    list(PREPEND files shared)
  endif()
  if(layout MATCHES "^redisson(_fair)?$" AND name STREQUAL "try_lock")
    list(PREPEND files grant)
  elseif(layout STREQUAL "redisson_permits")
    list(PREPEND files shared)
  endif()
  set(all "")
  foreach(file IN LISTS files)
    set(path ${layouts}/${layout}/scripts/${file}.lua)
    if(layout STREQUAL "redisson_fair" AND NOT EXISTS ${path})
      set(path ${layouts}/redisson/scripts/${file}.lua)
    endif()
    file(READ ${path} text)
    string(APPEND all "${text}")
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  endforeach()
  set(${text_out} "${all}" PARENT_SCOPE)
endfunction()

# all_scripts() of one layout, for the names in the order of its enumeration.
function(holdfast_redis_scripts output layout header namespace)
  set(entries "")
  foreach(name IN LISTS ARGN)
    holdfast_script_text(${layout} ${name} text)
    string(SHA1 hash "${text}")
    string(APPEND entries "    {R\"lua(${text})lua\", \"${hash}\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT "\
#include \"backend/redis/layouts/${layout}/${header}\"

namespace ${namespace} {

std::span<const script> all_scripts() noexcept {
  static constexpr script all[] = {
@entries@  };
  return all;
}

}  // namespace ${namespace}
")
endfunction()

set(generated ${PROJECT_BINARY_DIR}/generated)
set(holdfast_redis_scripts_files ${generated}/redis_scripts.cpp ${generated}/redis_lua_scripts.cpp
  ${generated}/redis_redisson_scripts.cpp ${generated}/redis_redisson_fair_scripts.cpp
  ${generated}/redis_redisson_rw_scripts.cpp ${generated}/redis_permits_scripts.cpp
  ${generated}/redis_setnx_scripts.cpp ${generated}/redis_getset_scripts.cpp)
holdfast_redis_scripts(${generated}/redis_scripts.cpp string scripts.hpp holdfast::redis
  lock_or_queue member_lock_or_queue release member_release withdraw renew renew_members resolve
  downgrade break_lock raise_counter release_uncontended release_with_successor lock_all guard
  guarded_write)
holdfast_redis_scripts(${generated}/redis_lua_scripts.cpp lua codec.hpp holdfast::redis::lua
  try_lock resolve release renew holder)
holdfast_redis_scripts(${generated}/redis_redisson_scripts.cpp redisson codec.hpp
  holdfast::redis::redisson try_lock release renew holders)
holdfast_redis_scripts(${generated}/redis_redisson_fair_scripts.cpp redisson_fair codec.hpp
  holdfast::redis::redisson_fair try_lock release withdraw renew holders)
holdfast_redis_scripts(${generated}/redis_redisson_rw_scripts.cpp redisson_rw codec.hpp
  holdfast::redis::redisson_rw try_lock release renew downgrade holders break_lock)
holdfast_redis_scripts(${generated}/redis_permits_scripts.cpp redisson_permits codec.hpp
  holdfast::redis::redisson_permits try_lock release renew holders break_lock)
holdfast_redis_scripts(${generated}/redis_setnx_scripts.cpp setnx codec.hpp holdfast::redis::setnx
  holder break_lock)
holdfast_redis_scripts(${generated}/redis_getset_scripts.cpp getset codec.hpp
  holdfast::redis::getset renew holder break_lock)
