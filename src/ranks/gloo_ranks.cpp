#include "ranks/gloo_ranks.h"

#include <ATen/ops/from_blob.h>

#include <exception>
#include <string_view>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <utility>
#include <vector>

#include "base/error.h"
#include "ranks/first_line.h"

namespace bet {
namespace {

// LibTorch never writes to what it is only given to send.
at::Tensor tensor_of(std::span<const std::byte> bytes) {
  return at::from_blob(const_cast<std::byte*>(bytes.data()),
                       {static_cast<std::int64_t>(bytes.size())}, at::kByte);
}

class GlooRanks final : public RankGroup {
 public:
  GlooRanks(const c10::intrusive_ptr<c10d::Store>& store, GlooOptions options)
      : options_(std::move(options)) {
    BET_CHECK(options_.rank < options_.size, "rank ", options_.rank, " of ", options_.size);
    attempt("meeting the other ranks", [&] {
      const auto gloo = c10d::ProcessGroupGloo::Options::create(options_.timeout);
      gloo->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(options_.address));
      // Two sums are made at once, and nothing else.
      gloo->threads = 2;
      group_ = c10::make_intrusive<c10d::ProcessGroupGloo>(store, static_cast<int>(options_.rank),
                                                           static_cast<int>(options_.size), gloo);
    });
    // A word with each of the others: a rank that leaves at once would else look, to one that is
    // still connecting, as if it had never come.
    std::vector<std::byte> to(options_.size);
    std::vector<std::byte> from(options_.size);
    exchange(to, from);
  }

  std::uint32_t rank() const override { return options_.rank; }
  std::uint32_t size() const override { return options_.size; }
  std::uint64_t bytes_sent() const override { return bytes_sent_; }

  std::unique_ptr<Sum> start_sum(std::span<float> values) override {
    return start_sum_of(values, at::kFloat);
  }

  void sum(std::span<double> values) override { start_sum_of(values, at::kDouble)->wait(); }

  void gather_to_all(std::span<const std::byte> own, std::span<std::byte> all) override {
    check_parts(own, all);
    std::vector<at::Tensor> in = {tensor_of(own)};
    std::vector<std::vector<at::Tensor>> out = {parts_of(all)};
    bytes_sent_ += others() * own.size();  // each part goes once around the ring
    attempt("gathering from all ranks", [&] { group_->allgather(out, in)->wait(); });
  }

  void gather(std::span<const std::byte> own, std::span<std::byte> all) override {
    std::vector<at::Tensor> in = {tensor_of(own)};
    std::vector<std::vector<at::Tensor>> out;
    if (rank() == 0) {
      check_parts(own, all);
      out.push_back(parts_of(all));
    } else {
      bytes_sent_ += own.size();
    }
    attempt("gathering on rank 0", [&] { group_->gather(out, in)->wait(); });
  }

  void scatter(std::span<const std::byte> all, std::span<std::byte> own) override {
    std::vector<at::Tensor> out = {tensor_of(own)};
    std::vector<std::vector<at::Tensor>> in;
    if (rank() == 0) {
      check_parts(own, all);
      in.push_back(parts_of(all));
      bytes_sent_ += others() * own.size();
    }
    attempt("distributing from rank 0", [&] { group_->scatter(out, in)->wait(); });
  }

  void exchange(std::span<const std::byte> to, std::span<std::byte> from) override {
    BET_CHECK(to.size() == from.size() && to.size() % size() == 0, "an exchange of ", to.size(),
              " for ", from.size(), " bytes among ", size(), " ranks");
    at::Tensor in = tensor_of(to);
    at::Tensor out = tensor_of(from);
    std::vector<std::int64_t> equal_parts;
    bytes_sent_ += others() * (to.size() / size());
    attempt("exchanging with all ranks",
            [&] { group_->alltoall_base(out, in, equal_parts, equal_parts)->wait(); });
  }

  void broadcast(std::span<std::byte> bytes) override {
    std::vector<at::Tensor> tensors = {tensor_of(bytes)};
    if (rank() == 0) bytes_sent_ += others() * bytes.size();
    attempt("hearing from rank 0", [&] { group_->broadcast(tensors)->wait(); });
  }

 private:
  class GlooSum final : public Sum {
   public:
    using Work = decltype(std::declval<c10d::ProcessGroupGloo&>().allreduce(
        std::declval<std::vector<at::Tensor>&>()));

    GlooSum(const GlooRanks& ranks, Work work) : ranks_(ranks), work_(std::move(work)) {}
    // Gloo must not write to the values when they may be gone.
    ~GlooSum() override {
      if (!work_) return;
      try {
        work_->wait();
      } catch (const std::exception&) {  // another error is on its way
      }
    }
    GlooSum(const GlooSum&) = delete;
    GlooSum& operator=(const GlooSum&) = delete;

    void wait() override {
      const Work work = std::exchange(work_, Work());
      ranks_.attempt("adding up over all ranks", [&] { work->wait(); });
    }

   private:
    const GlooRanks& ranks_;
    Work work_;
  };

  template <typename T>
  std::unique_ptr<Sum> start_sum_of(std::span<T> values, at::ScalarType type) {
    std::vector<at::Tensor> tensors = {
        at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())}, type)};
    // Around the ring: all parts but one are sent to be added, and all but one as sums.
    bytes_sent_ += 2 * others() * values.size_bytes() / size();
    std::unique_ptr<Sum> sum;
    attempt("adding up over all ranks",
            [&] { sum = std::make_unique<GlooSum>(*this, group_->allreduce(tensors)); });
    return sum;
  }

  std::uint64_t others() const { return size() - 1; }

  void check_parts(std::span<const std::byte> own, std::span<const std::byte> all) const {
    BET_CHECK(own.size() * size() == all.size(), all.size(), " bytes for ", size(), " parts of ",
              own.size());
  }

  std::vector<at::Tensor> parts_of(std::span<const std::byte> all) const {
    std::vector<at::Tensor> parts;
    const std::size_t bytes = all.size() / size();
    for (std::uint32_t r = 0; r < size(); ++r) {
      parts.push_back(tensor_of(all.subspan(r * bytes, bytes)));
    }
    return parts;
  }

  template <typename Call>
  void attempt(std::string_view what, const Call& call) const {
    try {
      call();
    } catch (const std::exception& error) {
      fail_as(ErrorKind::kInternal, "rank ", options_.rank, " of ", options_.size, " at ",
              options_.address, ": ", what, " failed; another rank ended, or did not answer for ",
              std::chrono::duration_cast<std::chrono::seconds>(options_.timeout).count(), " s (",
              first_line(error.what()), ")");
    }
  }

  GlooOptions options_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
  std::uint64_t bytes_sent_ = 0;
};

}  // namespace

std::unique_ptr<RankGroup> join_gloo_ranks(const c10::intrusive_ptr<c10d::Store>& store,
                                           const GlooOptions& options) {
  return std::make_unique<GlooRanks>(store, options);
}

}  // namespace bet
