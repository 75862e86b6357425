# Packages, by CPack, .deb and .tar.gz:
#   libbet0.1   the library, named after its soname: two of them can be installed side by side
#   libbet-dev  what compiling against it needs
#   bet-serve   serves a model file; has the runtime inside, so that it needs no libbet
#   bet         the trainer, where LibTorch is
#   python3-bet        `import bet` for model files; has the runtime inside; where python3-dev and pybind11 are
#   python3-bet-train  bet.fit and bet.compare, where LibTorch is, too
# As archives: bet-runtime (the first three) and bet-trainer, which run where they are unpacked.
# Comes after cmake/install.cmake, whose components it packs.
set(BET_SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(BET_PACKAGES library dev serve)  # by component
if(TARGET bet_cli)
  list(APPEND BET_PACKAGES trainer)
endif()
if(TARGET bet_python_runtime)
  list(APPEND BET_PACKAGES python)
endif()
if(TARGET bet_python_train)
  list(APPEND BET_PACKAGES python_train)
endif()
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libbet${BET_SOVERSION})
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libbet-dev)
set(CPACK_DEBIAN_SERVE_PACKAGE_NAME bet-serve)
set(CPACK_DEBIAN_TRAINER_PACKAGE_NAME bet)
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-bet)
set(CPACK_DEBIAN_PYTHON_TRAIN_PACKAGE_NAME python3-bet-train)

set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "recommendations from small model files, library
Opens a model file that bet has written and recommends items to users, finds
similar items, and gives scores and vectors. Needs no training library.")
set(CPACK_COMPONENT_DEV_DESCRIPTION "recommendations from small model files, development files
Headers for C and C++20, and what CMake and pkg-config need to find the
library, which opens a model file that bet has written and recommends items.")
set(CPACK_COMPONENT_SERVE_DESCRIPTION "recommendations from small model files, program
Answers from a model file that bet has written, on the command line or over
HTTP, shows where its bytes go, and checks it. Needs no training library.")
set(CPACK_COMPONENT_TRAINER_DESCRIPTION "trainer of recommenders that fit into given memory
Takes interactions and a hard memory budget, gives every single user and item
its share, trains a recommender inside it with LibTorch, and writes one small
model file, which bet-serve serves.")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "recommendations from small model files, Python module
Opens a model file that bet has written and gives recommendations, scores and
vectors as NumPy arrays. Needs no training library.")
set(CPACK_COMPONENT_PYTHON_TRAIN_DESCRIPTION "trainer of recommenders that fit into given memory, for Python
Adds bet.fit and bet.compare to the module bet: from a DataFrame or arrays
and a hard memory budget to one small model file, trained with LibTorch.")

set(CPACK_PACKAGE_NAME bet)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT
  "bet maintainers <maintainers@users.noreply.a-seed-63f92b55.example>")
set(CPACK_COMPONENTS_ALL ${BET_PACKAGES})
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/package/generator.cmake)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
if(CMAKE_CROSSCOMPILING)
  # dpkg-shlibdeps would name the libraries of the cross compiler. These are the versions that it has.
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
  set(BET_SYSTEM_PACKAGES "libc6 (>= 2.36), libgcc-s1 (>= 4.5), libstdc++6 (>= 12)")
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "${BET_SYSTEM_PACKAGES}")
  set(CPACK_DEBIAN_SERVE_PACKAGE_DEPENDS "${BET_SYSTEM_PACKAGES}")
  if(ZSTD_FOUND)
    string(APPEND CPACK_DEBIAN_SERVE_PACKAGE_DEPENDS ", libzstd1")
  endif()
endif()
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/package/triggers)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${CPACK_DEBIAN_LIBRARY_PACKAGE_NAME} (= ${PROJECT_VERSION})")
# LibTorch takes whatever BLAS there is; with the reference BLAS NGCF is 6 times slower.
set(CPACK_DEBIAN_TRAINER_PACKAGE_DEPENDS libopenblas0-pthread)
set(CPACK_DEBIAN_TRAINER_PACKAGE_SUGGESTS bet-serve)
# A module is for one version of Python.
if(TARGET bet_python_runtime)
  math(EXPR BET_NEXT_PYTHON "${Python_VERSION_MINOR} + 1")
  set(BET_THIS_PYTHON "python3 (>= 3.${Python_VERSION_MINOR}), python3 (<< 3.${BET_NEXT_PYTHON})")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "${BET_THIS_PYTHON}, python3-numpy")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS python3-bet-train)
  set(CPACK_DEBIAN_PYTHON_TRAIN_PACKAGE_DEPENDS
    "${BET_THIS_PYTHON}, python3-bet (= ${PROJECT_VERSION}), libopenblas0-pthread")
  set(CPACK_DEBIAN_PYTHON_TRAIN_PACKAGE_SUGGESTS "python3-pandas, python3-tqdm")
  foreach(component IN ITEMS python python_train)
    string(TOUPPER CPACK_DEBIAN_${component} upper)
    set(${upper}_PACKAGE_SECTION python)
    set(${upper}_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/package/${component}/postinst
                                       ${PROJECT_SOURCE_DIR}/cmake/package/${component}/prerm)
  endforeach()
endif()

set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
foreach(component IN ITEMS library dev serve runtime_licence)
  string(TOUPPER CPACK_COMPONENT_${component}_GROUP group)
  set(${group} runtime)
endforeach()
set(CPACK_COMPONENT_TRAINER_GROUP trainer)
set(CPACK_COMPONENT_TRAINER_LICENCE_GROUP trainer)
string(TOLOWER ${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR} BET_ARCHIVE_SUFFIX)
set(CPACK_PACKAGE_FILE_NAME bet-${BET_ARCHIVE_SUFFIX})  # the folder in both archives
set(CPACK_ARCHIVE_RUNTIME_FILE_NAME bet-runtime-${BET_ARCHIVE_SUFFIX})
set(CPACK_ARCHIVE_TRAINER_FILE_NAME bet-trainer-${BET_ARCHIVE_SUFFIX})

# Debian systems have the text of the licence; archives bring it (generator.cmake).
set(BET_LICENCES runtime_licence)
if(TARGET bet_cli)
  list(APPEND BET_LICENCES trainer_licence)
endif()
list(APPEND CPACK_COMPONENTS_ALL ${BET_LICENCES})
foreach(component IN LISTS BET_LICENCES)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/bet
    COMPONENT ${component})
endforeach()

# Of every package: who may use it, and what has changed, as Debian wants to have it.
if(Python3_Interpreter_FOUND)
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/changelog.gz
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/debian_changelog.py
            ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${CPACK_PACKAGE_CONTACT}
            ${PROJECT_BINARY_DIR}/changelog.gz
    DEPENDS ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/tools/debian_changelog.py
    VERBATIM)
  add_custom_target(bet_changelog ALL DEPENDS ${PROJECT_BINARY_DIR}/changelog.gz)
endif()
foreach(component IN LISTS BET_PACKAGES)
  string(TOUPPER ${component} upper)
  set(doc ${CMAKE_INSTALL_DATAROOTDIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/package/copyright DESTINATION ${doc}
    COMPONENT ${component})
  if(TARGET bet_changelog)
    install(FILES ${PROJECT_BINARY_DIR}/changelog.gz DESTINATION ${doc} COMPONENT ${component})
  endif()
endforeach()

include(CPack)
