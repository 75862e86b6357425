// Arbitrary bytes as the input of a client (libFuzzer; tools/fuzz.sh runs it), for parser and
// handlers on a small model. The first byte chooses the size of the pieces in which they arrive.
// Every request must get a valid status and body, whatever the pieces. The same bytes are read as a
// file of titles, too.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include "serve/http_parser.h"
#include "serve/served_toy.h"

namespace {

using bet::HttpResponse;
using bet::RequestParser;
using State = RequestParser::State;

void need(bool good, const char* what) {
  if (!good) throw std::logic_error(what);
}

void check(const HttpResponse& response) {
  need(bet::status_words(response.status) != "Error", "a status without words");
  need(response.status != 500, "an error of ours");
  need(!response.body.empty(), "no body");
  if (response.content_type == "application/json") {
    const auto json = nlohmann::json::parse(response.body, nullptr, false);
    need(json.is_object() && json.contains("error") == (response.status != 200), "no JSON of ours");
  }
  const std::string bytes = bet::response_bytes(response, true, true);
  need(bytes.find("\r\n\r\n") == bytes.size() - 4, "a head that ends too early");
}

// All answers to these bytes, fed in pieces of at most `step`.
std::string conversation(const bet::test::ServedToy& toy, std::string_view bytes,
                         std::size_t step) {
  std::string said;
  RequestParser parser(4096);
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, step);
    const std::size_t taken = parser.feed(piece);
    need(taken <= piece.size(), "more taken than given");
    need(taken == piece.size() || parser.state() == State::kDone, "less taken than needed");
    bytes.remove_prefix(taken);
    if (parser.state() == State::kFailed) {
      check(parser.error());
      return said + parser.error().body;
    }
    if (parser.state() != State::kDone) continue;
    const bet::HttpRequest request = parser.take_request();
    const HttpResponse response = toy.handlers().answer(request);
    check(response);
    toy.handlers().is_quick(request);
    if (response.route != "/metrics") said += response.body;
    parser.reset();
  }
  return said;
}

void check_titles(std::string_view bytes) {
  try {
    const bet::Titles titles = bet::Titles::parse(bytes, "titles");
    for (std::size_t i = 0; i < titles.size(); ++i) {
      need(!titles.title(i).empty(), "an empty title");
      need(titles.of(titles.item(i)) == titles.title(i), "another title");
    }
  } catch (const bet::Error&) {  // no such file
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bet::test::ServedToy toy;
  check_titles({reinterpret_cast<const char*>(data), size});
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = conversation(toy, bytes, bytes.size() + 1);
  need(conversation(toy, bytes, 1 + data[0] % 16) == whole, "pieces change the answers");
  return 0;
}
