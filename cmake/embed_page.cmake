# cmake -DPAGES=folder -DOUT=page.cpp -P embed_page.cmake: the page and its further script as C++, and the policy
# under which a browser runs the page's own script: that one, known by its hash, and no other.
set(PAGE ${PAGES}/index.html)

# The bytes of a file as the numbers of a C++ array.
function(to_numbers file out)
  file(READ "${file}" bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" lines "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " lines "${lines}")
  set(${out} "${lines}" PARENT_SCOPE)
endfunction()

# Base64 of bytes written in hex.
function(to_base64 hex out)
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  string(LENGTH "${hex}" digits)
  math(EXPR missing "(3 - (${digits} / 2) % 3) % 3")
  string(REPEAT "00" ${missing} zeros)
  string(REGEX MATCHALL "......" groups "${hex}${zeros}")
  set(text "")
  foreach(group IN LISTS groups)
    foreach(shift 18 12 6 0)
      math(EXPR index "(0x${group} >> ${shift}) & 63")
      string(SUBSTRING "${alphabet}" ${index} 1 letter)
      string(APPEND text "${letter}")
    endforeach()
  endforeach()
  string(LENGTH "${text}" length)
  math(EXPR length "${length} - ${missing}")
  string(SUBSTRING "${text}" 0 ${length} text)
  string(REPEAT "=" ${missing} padding)
  set(${out} "${text}${padding}" PARENT_SCOPE)
endfunction()

file(READ "${PAGE}" rest)
set(hashes "")
while(rest MATCHES "<script")
  string(FIND "${rest}" "<script>" begin)
  string(FIND "${rest}" "</script>" end)
  math(EXPR begin "${begin} + 8")
  math(EXPR length "${end} - ${begin}")
  if(begin EQUAL 7 OR length LESS 0)
    message(FATAL_ERROR "${PAGE}: scripts stand between <script> and </script>, without attributes")
  endif()
  string(SUBSTRING "${rest}" ${begin} ${length} script)
  string(SHA256 hash "${script}")
  to_base64(${hash} hash)
  string(APPEND hashes " 'sha256-${hash}'")
  math(EXPR end "${end} + 9")
  string(SUBSTRING "${rest}" ${end} -1 rest)
endwhile()
if(hashes STREQUAL "")
  set(hashes " 'none'")
endif()

to_numbers("${PAGE}" page)
to_numbers("${PAGES}/without_server.js" without_server)
file(WRITE "${OUT}" "// Made by cmake/embed_page.cmake.
#include \"serve/page.h\"

namespace bet {
namespace {

constexpr unsigned char kPage[] = {
${page}};

constexpr unsigned char kWithoutServer[] = {
${without_server}};

}  // namespace

std::string_view page_html() { return {reinterpret_cast<const char*>(kPage), sizeof(kPage)}; }

std::string_view page_script_hashes() { return \"${hashes}\"; }

std::string_view page_without_server() {
  return {reinterpret_cast<const char*>(kWithoutServer), sizeof(kWithoutServer)};
}

std::string_view page_policy() {
  return \"default-src 'none'; script-src${hashes}; style-src 'unsafe-inline'; img-src data:; \"
         \"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\";
}

}  // namespace bet
")
