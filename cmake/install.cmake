# What is installed, by component (cmake/package.cmake packs them); only `trainer` needs LibTorch:
#   library  libbet.so.*
#   dev      headers, and what CMake and pkg-config need
#   serve    bet-serve
#   trainer  bet
#   cmake --install build/release --prefix PREFIX [--component NAME]
# Comes after src, whose targets it installs.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
include(${CMAKE_CURRENT_LIST_DIR}/cli_docs.cmake)

install(TARGETS bet_shared
  EXPORT bet-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT dev
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/bet
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev FILES_MATCHING PATTERN "*.h")
install(TARGETS bet_serve RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT serve)
bet_cli_docs(bet_serve serve)
# For `bet-serve page`, where it has been built (make wasm): the npm package as browsers need it.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/build/js/package/
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bet/js COMPONENT serve OPTIONAL
  FILES_MATCHING PATTERN "index.js" PATTERN "*.wasm")
if(TARGET bet_cli)
  install(TARGETS bet_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT trainer)
  bet_cli_docs(bet_cli trainer)
endif()

# For find_package(bet): the target bet::bet.
set(BET_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/bet)
configure_package_config_file(cmake/bet-config.cmake.in ${PROJECT_BINARY_DIR}/bet-config.cmake
  INSTALL_DESTINATION ${BET_CMAKE_DIR} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/bet-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/bet-config.cmake ${PROJECT_BINARY_DIR}/bet-config-version.cmake
  DESTINATION ${BET_CMAKE_DIR} COMPONENT dev)
install(EXPORT bet-targets NAMESPACE bet:: DESTINATION ${BET_CMAKE_DIR} COMPONENT dev)

# For pkg-config. It finds its prefix from where it lies, so that the folder may be moved.
file(RELATIVE_PATH BET_PC_TO_PREFIX
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" BET_PC_TO_PREFIX "${BET_PC_TO_PREFIX}")
configure_file(cmake/bet.pc.in ${PROJECT_BINARY_DIR}/bet.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/bet.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
