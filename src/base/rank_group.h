#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace bet {

// The processes (ranks) that train one model together, each with some of the columns of its table.
// All calls are collective: every rank makes the same ones, in the same order and with as many
// values. A call ends with what it was made for, or throws, naming this rank, if another rank
// failed or did not answer in time. One thread.
class RankGroup {
 public:
  virtual ~RankGroup() = default;

  virtual std::uint32_t rank() const = 0;
  virtual std::uint32_t size() const = 0;

  // A sum that is being made.
  class Sum {
   public:
    virtual ~Sum() = default;
    virtual void wait() = 0;
  };
  // Replaces each value by its sum over the ranks, which has the same bits on all of them. The
  // values must stay where they are until wait() returns, and must not be used before.
  virtual std::unique_ptr<Sum> start_sum(std::span<float> values) = 0;
  virtual void sum(std::span<double> values) = 0;

  // Rank r's bytes become the r-th part of `all`: on every rank, or on rank 0 alone.
  virtual void gather_to_all(std::span<const std::byte> own, std::span<std::byte> all) = 0;
  virtual void gather(std::span<const std::byte> own, std::span<std::byte> all) = 0;
  // The r-th part of rank 0's bytes goes to rank r. `all` is read on rank 0 alone.
  virtual void scatter(std::span<const std::byte> all, std::span<std::byte> own) = 0;
  // The r-th part of `to` goes to rank r, and becomes the part of this rank in its `from`.
  virtual void exchange(std::span<const std::byte> to, std::span<std::byte> from) = 0;
  // Rank 0's bytes go to all.
  virtual void broadcast(std::span<std::byte> bytes) = 0;

  // Payload that this rank has sent so far.
  virtual std::uint64_t bytes_sent() const = 0;
};

}  // namespace bet
