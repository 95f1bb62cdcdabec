# holdfast_version_of_git(<version> <date>): the version of a package and the date of its changes.
#
#   commit                     | version
#   ---------------------------+---------------------------------------------
#   of the tag v0.1.0          | 0.1.0
#   12 commits after v0.1.0    | 0.1.0+12.g1234567 (later than 0.1.0)
#   no tag                     | 0.1.0~dev787.g1234567 (earlier than 0.1.0)
#   unknown (a source archive) | that of include/holdfast/version.hpp
#
# A tag that contradicts the header is an error.
function(holdfast_version_of_git version date)
  set(found ${PROJECT_VERSION})
  string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)  # honours SOURCE_DATE_EPOCH
  set(git git -C ${PROJECT_SOURCE_DIR})
  execute_process(COMMAND ${git} describe --tags --long --match "v[0-9]*" OUTPUT_VARIABLE described
    RESULT_VARIABLE no_tag ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${git} rev-list --count HEAD OUTPUT_VARIABLE count RESULT_VARIABLE no_git
    ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(no_tag EQUAL 0 AND described MATCHES "^v([0-9.]+)-([0-9]+)-(g[0-9a-f]+)$")
    if(CMAKE_MATCH_2 GREATER 0)
      set(found "${CMAKE_MATCH_1}+${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
    endif()
    if(CMAKE_MATCH_2 EQUAL 0 AND NOT CMAKE_MATCH_1 STREQUAL PROJECT_VERSION)
      message(FATAL_ERROR "The commit has the tag v${CMAKE_MATCH_1}, and "
        "include/holdfast/version.hpp says ${PROJECT_VERSION}: correct one of them")
    endif()
  elseif(no_git EQUAL 0)
    execute_process(COMMAND ${git} rev-parse --short HEAD OUTPUT_VARIABLE commit
      OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(found "${PROJECT_VERSION}~dev${count}.g${commit}")
  endif()
  if(no_git EQUAL 0)
    execute_process(COMMAND ${git} log -1 --format=%cD OUTPUT_VARIABLE now
      OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  set(${version} ${found} PARENT_SCOPE)
  set(${date} ${now} PARENT_SCOPE)
endfunction()
