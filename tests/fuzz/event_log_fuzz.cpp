// Arbitrary bytes as a log of events (libFuzzer; tools/fuzz.sh runs it). They are refused, or read
// up to a point; what was read must be read again from the bytes up to there, with nothing cut off.
// The first byte says how many of the file's last bytes are missing, as after a crash.
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

#include "bet/error.h"
#include "serve/event_log.h"

namespace {

void need(bool good, const char* what) {
  if (!good) throw std::logic_error(what);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span<const std::byte> file = std::as_bytes(std::span(data + 1, size - 1));
  const std::span<const std::byte> bytes = file.first(file.size() - data[0] % size);
  try {
    const bet::LoggedEvents whole = bet::read_event_log(bytes);
    need(whole.good_bytes <= bytes.size(), "more than there is");
    const bet::LoggedEvents again = bet::read_event_log(bytes.first(whole.good_bytes));
    need(again.good_bytes == whole.good_bytes, "what was good is not good any more");
    need(again.events == whole.events, "other events");
  } catch (const bet::Error&) {  // refused
  }
  return 0;
}
