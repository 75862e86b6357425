#pragma once

#include <string_view>

namespace bet {

// page/index.html, built in by cmake/embed_page.cmake.
std::string_view page_html();

// The Content-Security-Policy that allows the page's own script, by its hash, and no other.
std::string_view page_policy();

}  // namespace bet
