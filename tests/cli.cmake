# Tests of the command, and the programs that it runs in them: each file of programs/ is one.
file(GLOB programs CONFIGURE_DEPENDS cli/programs/*.cpp)
set(program_folder ${CMAKE_CURRENT_BINARY_DIR}/cli_programs)
foreach(source IN LISTS programs)
  cmake_path(GET source STEM stem)
  add_executable(cli_program_${stem} ${source})
  target_link_libraries(cli_program_${stem} PRIVATE testkit holdfast_inside)
  set_target_properties(cli_program_${stem} PROPERTIES OUTPUT_NAME ${stem}
    RUNTIME_OUTPUT_DIRECTORY ${program_folder})
endforeach()

if(TARGET holdfast_cli)
  add_executable(cli_over_memory cli/over_memory/accepted_memory.cpp)
  target_link_libraries(cli_over_memory PRIVATE holdfast_cli_parts)
  set_target_properties(cli_over_memory PROPERTIES OUTPUT_NAME holdfast
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/cli_over_memory_bin)
  set(tested_parts drill_figures.cpp drill_route.cpp server_address.cpp)
  list(TRANSFORM tested_parts PREPEND ${PROJECT_SOURCE_DIR}/cli/)
  holdfast_test_program(cli_tests testkit cli/*.cpp ${tested_parts})
  holdfast_add_tests(cli_tests DIR cli WAIT TIMEOUT 120 LONG "each_minute$" RULES ${backend_rules}
    "^(contention|kinds\\.|looking|signals|terminal)=file" "^drill=mission:G3"
    "^drill.*_(redis|zookeeper|mysql)$=long" "each_minute$=long" "^deadline=memory"
    "^explaining[.].*=mission:G3"
    ENVIRONMENT HOLDFAST_BIN=$<TARGET_FILE:holdfast_cli> HOLDFAST_CLI_PROGRAMS=${program_folder}
      HOLDFAST_CLI_FOLDER=${PROJECT_SOURCE_DIR}/cli
      HOLDFAST_COMPLETIONS=${CMAKE_CURRENT_SOURCE_DIR}/cli/completions/
      HOLDFAST_BIN_OVER_MEMORY=$<TARGET_FILE:cli_over_memory>)
  add_dependencies(cli_tests holdfast_cli cli_over_memory)
  # The command without a shared library, as docs/install.md links it.
  if(NOT HOLDFAST_SANITIZE AND NOT BUILD_SHARED_LIBS)
    foreach(kind static static-pie)
      add_executable(cli_${kind} ${PROJECT_SOURCE_DIR}/cli/memory_refusal.cpp)
      target_link_libraries(cli_${kind} PRIVATE holdfast_cli_parts)
      target_link_options(cli_${kind} PRIVATE -${kind} LINKER:--no-warnings)
      add_test(NAME cli.linked/runs_commands_under_a_lock/${kind}
        COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/cli/linked.sh $<TARGET_FILE:cli_${kind}>)
      set_tests_properties(cli.linked/runs_commands_under_a_lock/${kind} PROPERTIES
        LABELS "cli;file;mission:G1" TIMEOUT 120)
    endforeach()
  endif()
endif()
