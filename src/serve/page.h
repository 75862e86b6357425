#pragma once

#include <string_view>

namespace bet {

// page/index.html. All here is built in by cmake/embed_page.cmake.
std::string_view page_html();

// The hashes of its scripts as sources of a Content-Security-Policy, each behind a blank.
std::string_view page_script_hashes();

// page/without_server.js: the script that a page without a server has before its own.
std::string_view page_without_server();

// The Content-Security-Policy that allows the page's own script, by its hash, and no other.
std::string_view page_policy();

}  // namespace bet
