#include "runtime/facts.h"

#include <algorithm>

namespace bet {
namespace {

constexpr std::uint8_t kText = 0;
constexpr std::uint8_t kInteger = 1;
constexpr std::uint8_t kReal = 2;

}  // namespace

std::string encode_facts(Facts facts) {
  std::sort(facts.begin(), facts.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string bytes;
  append(bytes, static_cast<std::uint32_t>(facts.size()));
  const std::string* last = nullptr;
  for (const auto& [name, fact] : facts) {
    BET_CHECK(name.size() <= 255 && (last == nullptr || *last < name), "fact ", in_quotes(name),
              ": stands twice or has more than 255 bytes");
    last = &name;
    append(bytes, static_cast<std::uint8_t>(fact.index()));
    append(bytes, static_cast<std::uint8_t>(name.size()));
    bytes += name;
    if (const auto* text = std::get_if<std::string>(&fact)) {
      append(bytes, static_cast<std::uint32_t>(text->size()));
      bytes += *text;
    } else if (const auto* integer = std::get_if<std::int64_t>(&fact)) {
      append(bytes, *integer);
    } else {
      append(bytes, std::get<double>(fact));
    }
  }
  return bytes;
}

Facts decode_facts(Bytes bytes) {
  ByteReader reader(bytes, "facts");
  const auto count = reader.number<std::uint32_t>();
  Facts facts;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto type = reader.number<std::uint8_t>();
    std::string name(reader.text(reader.number<std::uint8_t>()));
    BET_CHECK(facts.empty() || facts.back().first < name, "facts: ", in_quotes(name),
              " is out of order");
    switch (type) {
      case kText:
        facts.emplace_back(std::move(name),
                           std::string(reader.text(reader.number<std::uint32_t>())));
        break;
      case kInteger:
        facts.emplace_back(std::move(name), reader.number<std::int64_t>());
        break;
      case kReal:
        facts.emplace_back(std::move(name), reader.number<double>());
        break;
      default:
        fail("facts: ", in_quotes(name), " has the unknown type ", int{type});
    }
  }
  reader.expect_end();
  return facts;
}

}  // namespace bet
