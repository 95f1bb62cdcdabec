# Tests of a build for another processor (cmake/cross.cmake), which an emulator runs.

# holdfast_add_emulated_suite(<target> DIR <folder> SHARDS <number> [EXCEPT <gtest pattern>]
#                             [ENVIRONMENT <name=value>...])
# The whole program but EXCEPT is SHARDS tests, labelled `emulated`: a program takes a fifth of a
# second to start in the emulator, longer than most cases.
function(holdfast_add_emulated_suite target)
  if(NOT TARGET ${target} OR NOT CMAKE_CROSSCOMPILING)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "DIR;SHARDS;EXCEPT" "ENVIRONMENT")
  # Larger pieces take less time to compile; warnings are reported by the build for this machine.
  set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 24)
  target_compile_options(${target} PRIVATE -w)
  holdfast_turn_recorder_off(arg_ENVIRONMENT)
  list(APPEND arg_ENVIRONMENT QEMU_LD_PREFIX=${CMAKE_SYSROOT} GTEST_TOTAL_SHARDS=${arg_SHARDS})
  foreach(shard RANGE 1 ${arg_SHARDS})
    math(EXPR index "${shard} - 1")
    set(name ${arg_DIR}.${CMAKE_SYSTEM_PROCESSOR}/${shard})
    add_test(NAME ${name} COMMAND ${target} --gtest_brief=1 --gtest_filter=-${arg_EXCEPT})
    set_tests_properties(${name} PROPERTIES LABELS "${arg_DIR};emulated" TIMEOUT 240
      ENVIRONMENT "${arg_ENVIRONMENT};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()
