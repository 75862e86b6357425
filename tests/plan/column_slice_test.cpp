#include "plan/column_slice.h"

#include <gtest/gtest.h>

#include <numeric>

#include "support/expect_error.h"

namespace bet {
namespace {

using test::error_of;

const TableShape kSlicedShape{4, 3, 12, 1};

SizePlan sliced_plan() { return {kSlicedShape, {1, 2, 3, 4}, {5, 9, 12}}; }

TEST(ColumnSlice, SlicesOfAPlanHaveEachColumnOnce) {
  const SizePlan plan = sliced_plan();
  for (std::uint32_t count = 1; count <= 5; ++count) {
    std::vector<std::uint32_t> users(4);
    std::vector<std::uint32_t> items(3);
    std::uint64_t params = 0;
    std::uint32_t width = 0;
    for (std::uint32_t index = 0; index < count; ++index) {
      const SizePlan slice = slice_of(plan, {index, count});
      for (std::size_t i = 0; i < users.size(); ++i) users[i] += slice.user_sizes()[i];
      for (std::size_t i = 0; i < items.size(); ++i) items[i] += slice.item_sizes()[i];
      params += slice.num_params();
      width += slice.width();
      EXPECT_LE(slice.width(), (plan.width() + count - 1) / count) << "slices are even";
      EXPECT_GE(slice.width(), plan.width() / count);
    }
    EXPECT_EQ(users, (std::vector<std::uint32_t>{1, 2, 3, 4}));
    EXPECT_EQ(items, (std::vector<std::uint32_t>{5, 9, 12}));
    EXPECT_EQ(params, plan.num_params());
    EXPECT_EQ(width, plan.width());
  }
  EXPECT_EQ(slice_of(plan, {0, 1}), plan);
}

TEST(ColumnSlice, RowsAreSplitAndJoined) {
  constexpr std::size_t kRows = 3;
  constexpr std::size_t kStride = 16;
  for (std::uint32_t width = 1; width <= 13; ++width) {
    for (std::uint32_t count = 1; count <= std::min(width, 5U); ++count) {
      std::vector<float> rows(kRows * kStride);
      std::iota(rows.begin(), rows.end(), 1.0F);
      const std::uint32_t part_width = ColumnSlice{0, count}.largest_part_of(width);
      std::vector<float> parts(count * kRows * part_width);
      split_rows(rows.data(), kStride, kRows, width, count, parts.data());
      for (std::uint32_t index = 0; index < count; ++index) {
        const ColumnSlice slice{index, count};
        for (std::size_t row = 0; row < kRows; ++row) {
          for (std::uint32_t c = 0; c < slice.part_of(width); ++c) {
            EXPECT_EQ(parts[(index * kRows + row) * part_width + c],
                      rows[row * kStride + slice.column(c)]);
          }
        }
      }
      std::vector<float> joined(rows.size());
      join_rows(parts.data(), kRows, width, count, joined.data(), kStride);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(joined[i], i % kStride < width ? rows[i] : 0) << i;
      }
    }
  }
}

TEST(ColumnSlice, WhatCannotBeDividedIsRefused) {
  const SizePlan plan = sliced_plan();
  const ColumnSlice half{0, 2};
  const auto refusal = [&](const SizePlan& of, const ColumnSlice& slice = {0, 2}) {
    return error_of([&] { slice_of(of, slice); });
  };
  EXPECT_NE(refusal(plan, {0, 13}).find("12 columns for 13 ranks"), std::string::npos);
  EXPECT_NE(refusal(plan.with_form(StoredForm::kVectors)).find("vectors"), std::string::npos);
  EXPECT_NE(refusal(plan.with_precision({Precision::kInt2, Precision::kInt2})).find("int2"),
            std::string::npos);
  TableShape masks = kSlicedShape;
  masks.masks = true;
  EXPECT_NE(refusal(SizePlan::masked(masks, std::vector<std::uint8_t>(7 * 12, 1))).find("mask"),
            std::string::npos);
  TableShape two = kSlicedShape;
  two.tables = 2;
  EXPECT_NE(refusal(full_plan(two)).find("2 embeddings"), std::string::npos);
  EXPECT_EQ(slice_of(plan.with_precision({Precision::kFloat16, Precision::kFloat16}), half)
                .precision()
                .users,
            Precision::kFloat16)
      << "half precision is a matter of the file";
}

}  // namespace
}  // namespace bet
