// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace atelier::runtime::http::detail {

/// One image of a job.
struct image_row {
  /// The engine's number of the request; 0 until it was submitted.
  uint64_t request = 0;
  bool handed_in = false;
  bool ended = false;
  /// The engine accepted it and was full before `request` was known.
  bool put_back_early = false;
  uint32_t steps_done = 0;
  /// The steps, from the client or the engine; 0: unknown.
  uint32_t steps = 0;
  /// It was cancelled alone, and has ended by that.
  bool cancelled = false;
};

/// The images of one job on their way through the engine. An image that has
/// ended stays so, and ends once; one that was cancelled alone has ended; the
/// engine has an image only once at a time.
/// Threads: one at a time.
class image_rows {
public:
  explicit image_rows(size_t images = 0) : rows_(images) {}

  size_t size() const {
    return rows_.size();
  }

  const image_row& operator[](size_t index) const {
    return rows_[index];
  }

  auto begin() const {
    return rows_.begin();
  }

  auto end() const {
    return rows_.end();
  }

  /// Says how many steps an image is expected to take; 0: unknown.
  void expect(uint32_t index, uint32_t steps) {
    rows_[index].steps = steps;
  }

  /// Returns whether an image must be submitted: the engine does not have it,
  /// and it has not ended.
  bool is_due(uint32_t index) const {
    return !rows_[index].handed_in && !rows_[index].ended;
  }

  /// Says that the engine accepted an image. Its answer may have come before.
  void submitted(uint32_t index, uint64_t request);

  /// Says that the engine was full after it had accepted an image, which is due
  /// again.
  void put_back(uint32_t index);

  void step(uint32_t index, uint32_t done, uint32_t steps);

  /// Ends an image. Returns false if it had ended before.
  bool finish(uint32_t index) {
    return !std::exchange(rows_[index].ended, true);
  }

  /// Says that all steps of an image are done.
  /// @param run the number that ran; it counts if none was known
  void drawn(uint32_t index, uint32_t run);

  /// Cancels one image alone. Returns false if it had ended before.
  bool cancel(uint32_t index);

  /// Returns the requests that the engine has and has not answered.
  std::vector<uint64_t> open() const;

  /// Returns the indices of the images that were cancelled alone, in ascending
  /// order.
  std::vector<uint32_t> cancelled() const;

private:
  std::vector<image_row> rows_;
};

} // namespace atelier::runtime::http::detail
