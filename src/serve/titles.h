#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bet/model.h"

namespace bet {

// Titles of items by their ids, for people. Knows no model: ids that a model does not have do no
// harm, and stay for a later model that has them.
class Titles {
 public:
  static constexpr std::size_t kMaxFileBytes = std::size_t{256} << 20U;
  static constexpr std::size_t kMaxTitleBytes = 4'096;

  // From a file of comma- or tab-separated values, quoted as in RFC 4180, in UTF-8. The first line
  // may name the columns: `title` or `name`, and the id (a name that ends with "id", or "item");
  // without such names the first column is the id and the second the title. Further columns are
  // ignored, as are empty titles. Of two titles for an id the first holds. Control characters in
  // titles become blanks. Throws Error with the path and, for what is wrong inside, the line.
  static Titles read(const std::string& path);
  // The same from memory; `source` names it in errors.
  static Titles parse(std::string_view text, const std::string& source);

  std::size_t size() const { return entries_.size(); }
  // Empty: there is none. Lives as long as this.
  std::string_view of(std::string_view item) const;

  // The i-th of the file, 0 .. size()-1.
  std::string_view item(std::size_t i) const;
  std::string_view title(std::size_t i) const;
  std::string_view folded(std::size_t i) const;  // the title for searches (folded_text.h)

  // How many of them are for items of the model.
  std::size_t count_known(const Model& model) const;

 private:
  // Of an item: where its id, its title and its folded title begin in text_, one behind the other.
  struct Entry {
    std::uint64_t item = 0;
    std::uint32_t item_bytes = 0, title_bytes = 0, folded_bytes = 0;
  };

  void add(std::string_view item, std::string title);
  void sort();

  std::string text_;
  std::vector<Entry> entries_;          // in the order of the file
  std::vector<std::uint32_t> by_item_;  // places in entries_, by ascending id
};

}  // namespace bet
