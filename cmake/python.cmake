# The Python package, where Debian's python3-dev and pybind11-dev are (tools/packages-python.txt):
#   build/release/python/bet   ready to be imported: PYTHONPATH=build/release/python
#   bet._runtime               model files; has the runtime inside and needs no LibTorch
#   bet._train                 the library that trains, where LibTorch is
# BET_PYTHON=OFF leaves it out. Comes after src.
option(BET_PYTHON "Build the Python package where there are Python's headers and pybind11" ON)
if(NOT BET_PYTHON OR CMAKE_CXX_FLAGS MATCHES "-fsanitize" OR CMAKE_CROSSCOMPILING)
  return()
endif()

# Debian's own Python: another one on the PATH has neither its NumPy nor its packages.
if(NOT DEFINED Python_EXECUTABLE AND EXISTS /usr/bin/python3)
  set(Python_EXECUTABLE /usr/bin/python3)
endif()
find_package(Python COMPONENTS Interpreter Development.Module)
find_path(BET_PYBIND11_DIR pybind11/pybind11.h HINTS ${BET_DEPS_DIR} ${BET_DEPS_DIR}/include)
if(NOT Python_Development.Module_FOUND OR NOT BET_PYBIND11_DIR)
  message(STATUS "bet: no Python package: it needs python3-dev and pybind11-dev")
  return()
endif()

set(BET_PYTHON_DIR ${PROJECT_BINARY_DIR}/python/bet)
add_library(bet_python_common OBJECT ${PROJECT_SOURCE_DIR}/python/src/errors.cpp
                                     ${PROJECT_SOURCE_DIR}/python/src/ids.cpp)
set_target_properties(bet_python_common PROPERTIES POSITION_INDEPENDENT_CODE ON)

# bet_python_options(TARGETS..): hidden, as pybind11 wants all that uses it to be.
function(bet_python_options)
  foreach(target IN LISTS ARGN)
    set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden
                                               VISIBILITY_INLINES_HIDDEN ON)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/python/src)
    target_include_directories(${target} SYSTEM PRIVATE ${BET_PYBIND11_DIR})
    target_link_libraries(${target} PRIVATE bet_options bet_base Python::Module)
  endforeach()
endfunction()
bet_python_options(bet_python_common)

# bet_python_module(NAME LIBRARY SOURCES..): bet/NAME. Of the libraries inside, nothing is visible to others.
function(bet_python_module name library)
  set(target bet_python${name})
  Python_add_library(${target} MODULE WITH_SOABI $<TARGET_OBJECTS:bet_python_common> ${ARGN})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name}
                                             LIBRARY_OUTPUT_DIRECTORY ${BET_PYTHON_DIR})
  bet_python_options(${target})
  target_link_libraries(${target} PRIVATE ${library})
  target_link_options(${target} PRIVATE LINKER:--exclude-libs,ALL LINKER:--gc-sections)
endfunction()
bet_python_module(_runtime bet_http ${PROJECT_SOURCE_DIR}/python/src/opened_model.cpp
                                    ${PROJECT_SOURCE_DIR}/python/src/runtime_module.cpp)
target_compile_definitions(bet_python_runtime PRIVATE BET_VERSION="${PROJECT_VERSION}")
bet_compile_quickly(bet_python_runtime)
set(BET_PYTHON_MODULES bet_python_runtime)
if(BET_WITH_TORCH)
  bet_python_module(_train bet_run ${PROJECT_SOURCE_DIR}/python/src/fit_events.cpp
                                   ${PROJECT_SOURCE_DIR}/python/src/id_column.cpp
                                   ${PROJECT_SOURCE_DIR}/python/src/train_module.cpp)
  bet_compile_quickly(bet_python_train)
  list(APPEND BET_PYTHON_MODULES bet_python_train)
endif()

# The files of the package beside the modules.
file(GLOB BET_PYTHON_FILES CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python/bet
  ${PROJECT_SOURCE_DIR}/python/bet/*.py ${PROJECT_SOURCE_DIR}/python/bet/*.pyi
  ${PROJECT_SOURCE_DIR}/python/bet/py.typed)
set(BET_PYTHON_COPIES "")
foreach(file IN LISTS BET_PYTHON_FILES)
  add_custom_command(OUTPUT ${BET_PYTHON_DIR}/${file}
    COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/python/bet/${file} ${BET_PYTHON_DIR}/${file}
    DEPENDS ${PROJECT_SOURCE_DIR}/python/bet/${file} VERBATIM)
  list(APPEND BET_PYTHON_COPIES ${BET_PYTHON_DIR}/${file})
endforeach()
# What editors and type checkers know of the options of `fit` is written from their table.
if(BET_WITH_TORCH)
  add_custom_command(OUTPUT ${BET_PYTHON_DIR}/_fit.pyi
    COMMAND ${CMAKE_COMMAND} -E env OMP_WAIT_POLICY=passive ${Python_EXECUTABLE} -B
            ${PROJECT_SOURCE_DIR}/python/make_fit_stub.py ${BET_PYTHON_DIR}
    DEPENDS ${BET_PYTHON_MODULES} ${PROJECT_SOURCE_DIR}/python/make_fit_stub.py ${BET_PYTHON_COPIES} VERBATIM)
  list(APPEND BET_PYTHON_COPIES ${BET_PYTHON_DIR}/_fit.pyi)
endif()
add_custom_target(bet_python ALL DEPENDS ${BET_PYTHON_COPIES} ${BET_PYTHON_MODULES})

# Installed as Debian has it: the runtime alone, and the trainer beside it.
set(BET_PYTHON_DESTINATION lib/python3/dist-packages/bet)
list(TRANSFORM BET_PYTHON_FILES PREPEND ${PROJECT_SOURCE_DIR}/python/bet/ OUTPUT_VARIABLE BET_PYTHON_SOURCES)
install(FILES ${BET_PYTHON_SOURCES} DESTINATION ${BET_PYTHON_DESTINATION} COMPONENT python)
install(TARGETS bet_python_runtime LIBRARY DESTINATION ${BET_PYTHON_DESTINATION} COMPONENT python)
if(BET_WITH_TORCH)
  install(TARGETS bet_python_train LIBRARY DESTINATION ${BET_PYTHON_DESTINATION} COMPONENT python_train)
  install(FILES ${BET_PYTHON_DIR}/_fit.pyi DESTINATION ${BET_PYTHON_DESTINATION} COMPONENT python_train)
endif()
