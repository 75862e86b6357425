# bet_hardening: the compiler's and the linker's protections, for our own targets (by bet_options in
# src/CMakeLists.txt) and for what is compiled into them. Targets of a project around this one are left
# alone. tests/tools/hardening_test.sh reads them back from the binaries.
#
# Not among them: -D_GLIBCXX_ASSERTIONS, which checks every element access of the hot loops; sanitizers,
# which have checks of their own, are built without any.
include(CheckCXXCompilerFlag)
include(CheckPIESupported)
option(BET_HARDEN "Stack protector, fortified C library calls, control-flow protection, full RELRO, PIE" ON)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  set(BET_HARDENED OFF)
else()
  set(BET_HARDENED ${BET_HARDEN})
endif()

# bet_harden_programs(TARGETS..): those that exist become position-independent executables. Not an option of
# bet_hardening, which reaches programs of others that link our static libraries.
function(bet_harden_programs)
  if(NOT BET_HARDENED)
    return()
  endif()
  foreach(target IN LISTS ARGN)
    if(TARGET ${target})
      set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endif()
  endforeach()
endfunction()

add_library(bet_hardening INTERFACE)
if(NOT BET_HARDENED)
  return()
endif()

check_pie_supported(LANGUAGES CXX)  # CMake links with -pie only after this

# bet_harden(FLAG): where the compiler knows it.
function(bet_harden flag)
  string(MAKE_C_IDENTIFIER "BET_HAS${flag}" known)
  check_cxx_compiler_flag(${flag} ${known})
  if(${known})
    target_compile_options(bet_hardening INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:${flag}>)
  endif()
endfunction()
bet_harden(-fstack-protector-strong)
bet_harden(-fcf-protection=full)  # x86 only

# The C library refuses it without optimisation. Distributions may have set a level of their own.
target_compile_options(bet_hardening INTERFACE
  "$<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<CONFIG:Release,RelWithDebInfo,MinSizeRel>>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>")

target_link_options(bet_hardening INTERFACE LINKER:-z,relro,-z,now)
