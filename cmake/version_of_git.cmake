# holdfast_version_of_git(<source> <version> <date>): the version of the commit that the folder
# <source> is a checkout of, and the date of its changes.
#
#   commit                            | version
#   ----------------------------------+--------------------------------------------------
#   of the tag v0.1.0                 | 0.1.0
#   12 commits after v0.1.0           | 0.1.0+12.g1234567 (later than 0.1.0)
#   no tag, or one of another version | 0.1.0~dev787.g1234567 (earlier than 0.1.0)
#   unknown (a source archive)        | that of include/holdfast/version.hpp
#
# Each begins with the version of include/holdfast/version.hpp.
function(holdfast_version_of_git source version date)
  file(STRINGS ${source}/include/holdfast/version.hpp line REGEX "HOLDFAST_VERSION \"")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" found "${line}")
  string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)  # honours SOURCE_DATE_EPOCH
  set(git git -C ${source})
  # A source archive may have been unpacked inside of another repository.
  execute_process(COMMAND ${git} rev-parse --show-prefix OUTPUT_VARIABLE folder
    RESULT_VARIABLE no_git ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(no_git EQUAL 0 AND folder STREQUAL "")
    execute_process(COMMAND ${git} describe --tags --long --match "v[0-9]*"
      OUTPUT_VARIABLE described ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND ${git} rev-list --count HEAD OUTPUT_VARIABLE count ERROR_QUIET
      OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND ${git} rev-parse --short HEAD OUTPUT_VARIABLE commit ERROR_QUIET
      OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND ${git} log -1 --format=%cD OUTPUT_VARIABLE changed ERROR_QUIET
      OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(described MATCHES "^v([0-9.]+)-([0-9]+)-(g[0-9a-f]+)$" AND CMAKE_MATCH_1 STREQUAL found)
      if(CMAKE_MATCH_2 GREATER 0)
        set(found "${found}+${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
      endif()
    elseif(commit)  # else nothing has been committed
      set(found "${found}~dev${count}.g${commit}")
    endif()
    if(changed)
      set(now ${changed})
    endif()
  endif()
  set(${version} ${found} PARENT_SCOPE)
  set(${date} ${now} PARENT_SCOPE)
endfunction()

# Ends with an error if the commit has a tag of another version than the header.
function(holdfast_check_tag source version)
  execute_process(COMMAND git -C ${source} describe --tags --exact-match --match "v[0-9]*"
    OUTPUT_VARIABLE tag ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(tag AND NOT tag STREQUAL "v${version}")
    message(FATAL_ERROR "The commit has the tag ${tag}, and include/holdfast/version.hpp says "
      "${version}: correct one of them")
  endif()
endfunction()
