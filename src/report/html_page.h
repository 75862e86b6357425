#pragma once

#include <string>

namespace bet {

// Pieces of a page. Texts are escaped here; contents are HTML.

std::string paragraph(const std::string& text);
std::string note(const std::string& text);  // in small type

// Figures beside each other where there is room; empty without any.
std::string charts_of(const std::string& figures);

// A part of the page under its title; empty without contents.
std::string section_of(const char* title, const std::string& contents);

// The whole page: a title, the result in a sentence, sections. It may load nothing.
std::string html_page(const std::string& title, const std::string& sentence,
                      const std::string& sections);

}  // namespace bet
