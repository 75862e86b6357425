# bet_cli_docs(TARGET COMPONENT): the man page and the shell completions of a program, made from its
# --help when it is built, and installed with it.
find_package(Python3 COMPONENTS Interpreter)
if(NOT Python3_Interpreter_FOUND)
  message(STATUS "bet: man pages and completions are not made: they need python3")
endif()
file(GLOB BET_CLI_DOCS_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/cli_docs/*.py)

function(bet_cli_docs target component)
  if(NOT Python3_Interpreter_FOUND)
    return()
  endif()
  get_target_property(name ${target} OUTPUT_NAME)
  set(template ${PROJECT_SOURCE_DIR}/docs/man/${name}.1.in)
  set(share ${PROJECT_BINARY_DIR}/cli_docs/${name})
  set(page ${share}/man/man1/${name}.1.gz)
  set(program $<TARGET_FILE:${target}>)
  if(CMAKE_CROSSCOMPILING)  # a script of the program's name runs it
    set(program ${PROJECT_BINARY_DIR}/cli_docs/run/${name})
    list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator)
    file(GENERATE OUTPUT ${program} CONTENT "#!/bin/sh\nexec ${emulator} '$<TARGET_FILE:${target}>' \"$@\"\n"
      FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  endif()
  add_custom_command(OUTPUT ${page}
    COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/cli_docs/make.py
            ${program} ${template} ${PROJECT_VERSION} ${share}
    DEPENDS ${target} ${template} ${BET_CLI_DOCS_SOURCES} VERBATIM)
  add_custom_target(${target}_docs ALL DEPENDS ${page})
  install(DIRECTORY ${share}/ DESTINATION ${CMAKE_INSTALL_DATAROOTDIR} COMPONENT ${component})
endfunction()
