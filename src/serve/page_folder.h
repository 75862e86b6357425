#pragma once

#include <string>

namespace bet {

// The page of `bet-serve http` as a folder that needs no server.
struct PageFolder {
  std::string model;    // a model file
  std::string titles;   // a file of titles (titles.h); empty: there are none
  std::string runtime;  // the folder of the npm package bet-runtime, unpacked
  std::string out;      // the folder to write
};

// Writes index.html and the scripts that it loads: the page, the model file, the runtime for
// browsers and the titles. They are scripts, files in base64 among them, so that the page also
// works when it is opened from the disk, where a browser fetches nothing. Files of these names are
// replaced, others in the folder stay. Throws Error with the path.
void write_page_folder(const PageFolder& folder);

// The folder of the runtime that was installed, or built, with this program; empty: there is none.
std::string find_page_runtime();

}  // namespace bet
