# The version that the library and the command report. The header with it is written again after a
# commit or a tag, and one file of the library includes it.
set(version_header ${PROJECT_BINARY_DIR}/generated/c/version_of_build.hpp)
set(version_sources ${PROJECT_SOURCE_DIR}/include/holdfast/version.hpp
  ${PROJECT_SOURCE_DIR}/cmake/version_of_git.cmake ${PROJECT_SOURCE_DIR}/cmake/write_version.cmake)
foreach(path logs/HEAD HEAD refs/tags)
  execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} rev-parse --git-path ${path}
    OUTPUT_VARIABLE of_git RESULT_VARIABLE no_git ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  get_filename_component(of_git "${of_git}" ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
  if(no_git EQUAL 0 AND EXISTS "${of_git}")
    list(APPEND version_sources ${of_git})
  endif()
endforeach()
add_custom_command(OUTPUT ${version_header} DEPENDS ${version_sources} VERBATIM
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DHEADER=${version_header}
    -P ${PROJECT_SOURCE_DIR}/cmake/write_version.cmake
  COMMENT "The version of the commit")
add_custom_target(holdfast_version_header DEPENDS ${version_header})
