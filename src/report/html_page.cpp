#include "report/html_page.h"

#include "report/html_text.h"
#include "report/page_style.h"

namespace bet {

std::string paragraph(const std::string& text) { return "<p>" + escaped(text) + "</p>\n"; }

std::string note(const std::string& text) {
  return "<p class=\"muted\">" + escaped(text) + "</p>\n";
}

std::string charts_of(const std::string& figures) {
  return figures.empty() ? "" : "<div class=\"charts\">\n" + figures + "</div>\n";
}

std::string section_of(const char* title, const std::string& contents) {
  if (contents.empty()) return "";
  return "<section>\n<h2>" + std::string(title) + "</h2>\n" + contents + "</section>\n";
}

std::string html_page(const std::string& title, const std::string& sentence,
                      const std::string& sections) {
  return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" "
         "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>" +
         escaped(title) + " – bet</title>\n<style>" + kPageStyle +
         "</style>\n</head>\n<body>\n<header>\n<h1>" + escaped(title) + "</h1>\n" +
         paragraph(sentence) + "</header>\n<main>\n" + sections + "</main>\n</body>\n</html>\n";
}

}  // namespace bet
