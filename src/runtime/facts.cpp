#include "runtime/facts.h"

#include <algorithm>
#include <array>

namespace bet {
namespace {

constexpr std::uint8_t kText = 0;
constexpr std::uint8_t kInteger = 1;
constexpr std::uint8_t kReal = 2;

constexpr std::array<std::string_view, 3> kTypeNames = {"text", "integer", "real number"};

template <typename T>
const T& fact_as(std::uint8_t expected, std::string_view file, std::string_view name,
                 const Model::Fact& fact) {
  const T* const value = std::get_if<T>(&fact);
  BET_CHECK(value != nullptr, file, ": the fact ", in_quotes(name), " has the type ",
            kTypeNames[fact.index()], ", not ", kTypeNames[expected]);
  return *value;
}

}  // namespace

const std::string& text_fact(std::string_view file, std::string_view name,
                             const Model::Fact& fact) {
  return fact_as<std::string>(kText, file, name, fact);
}

std::int64_t integer_fact(std::string_view file, std::string_view name, const Model::Fact& fact) {
  return fact_as<std::int64_t>(kInteger, file, name, fact);
}

std::string encode_facts(Facts facts) {
  std::sort(facts.begin(), facts.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string bytes;
  append(bytes, static_cast<std::uint32_t>(facts.size()));
  const std::string* last = nullptr;
  for (const auto& [name, fact] : facts) {
    BET_CHECK(name.size() <= 255 && (last == nullptr || *last < name), "fact ", in_quotes(name),
              ": is given twice or has a name of more than 255 bytes");
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
