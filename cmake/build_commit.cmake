# cmake -DSOURCE=.. -DCOMMIT=.. -DOUT=.. -P build_commit.cmake
# Writes the source that knows the commit of the build. Runs with every build, and writes only where the commit is
# another one than before, so that nothing else is compiled again. COMMIT, if not empty, is the commit; else git says
# it, and where there is no git or no repository there is none.
if("${COMMIT}" STREQUAL "")
  find_program(GIT git)
  # Not the repository that an unpacked release happens to lie in.
  if(GIT AND EXISTS "${SOURCE}/.git")
    execute_process(COMMAND ${GIT} -C "${SOURCE}" describe --always --dirty --abbrev=10 "--exclude=*"
      OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()
string(CONCAT text
  "// Made by cmake/build_commit.cmake.\n#include \"run/build_commit.h\"\n\nnamespace bet {\n\n"
  "std::string build_commit() { return \"${COMMIT}\"; }\n\n}  // namespace bet\n")
set(before "")
if(EXISTS "${OUT}")
  file(READ "${OUT}" before)
endif()
if(NOT "${before}" STREQUAL "${text}")
  file(WRITE "${OUT}" "${text}")
endif()
