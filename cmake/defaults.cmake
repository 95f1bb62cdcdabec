# What a configure without any option gets: an optimised build, and of the parts that need packages
# beside a compiler those whose packages are installed.
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  message(STATUS "holdfast: no build type was given: Release")
  set(CMAKE_BUILD_TYPE Release CACHE STRING
    "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

# Sets `found` in the caller: is there a CMake package, or a header, of this name?
function(holdfast_find_need name)
  if(name MATCHES "\\.hp*$")
    string(MAKE_C_IDENTIFIER "HOLDFAST_FOLDER_OF_${name}" folder)
    find_path(${folder} ${name})
    mark_as_advanced(${folder})
    set(found "${${folder}}" PARENT_SCOPE)
  else()
    find_package(${name} QUIET)
    set(found "${${name}_FOUND}" PARENT_SCOPE)
  endif()
endfunction()

# holdfast_option_if_installed(<option> <text> <need>=<Debian package>...)
# An option that is ON at the top level if everything is found that it needs. Set by hand it stays
# as it is, and what is missing is an error where it is needed.
function(holdfast_option_if_installed option text)
  set(value ${PROJECT_IS_TOP_LEVEL})
  set(missing "")
  if(value AND NOT DEFINED ${option})
    foreach(need IN LISTS ARGN)
      string(REPLACE "=" ";" need "${need}")
      list(GET need 0 name)
      list(GET need 1 debian)
      holdfast_find_need(${name})
      if(NOT found)
        list(APPEND missing "${name} (Debian: ${debian})")
        set(value OFF)
      endif()
    endforeach()
  endif()
  option(${option} "${text}" ${value})
  if(missing)
    list(JOIN missing ", " missing)
    message(STATUS "holdfast: ${option} is OFF, as there is no ${missing}. To ${text}, install "
      "that and configure with -D${option}=ON")
  endif()
endfunction()
