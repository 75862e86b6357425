# What is installed: the runtime (component `runtime`), which needs no LibTorch.
#   cmake --install build/release --prefix PREFIX --component runtime
# Comes after src, whose targets it installs.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS bet_shared
  EXPORT bet-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/bet
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT runtime FILES_MATCHING PATTERN "*.h")
if(TARGET bet_serve)
  install(TARGETS bet_serve RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
endif()

# For find_package(bet): the target bet::bet.
set(BET_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/bet)
configure_package_config_file(cmake/bet-config.cmake.in ${PROJECT_BINARY_DIR}/bet-config.cmake
  INSTALL_DESTINATION ${BET_CMAKE_DIR} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/bet-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/bet-config.cmake ${PROJECT_BINARY_DIR}/bet-config-version.cmake
  DESTINATION ${BET_CMAKE_DIR} COMPONENT runtime)
install(EXPORT bet-targets NAMESPACE bet:: DESTINATION ${BET_CMAKE_DIR} COMPONENT runtime)

# For pkg-config. It finds its prefix from where it lies, so that the folder may be moved.
file(RELATIVE_PATH BET_PC_TO_PREFIX
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" BET_PC_TO_PREFIX "${BET_PC_TO_PREFIX}")
configure_file(cmake/bet.pc.in ${PROJECT_BINARY_DIR}/bet.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/bet.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT runtime)
