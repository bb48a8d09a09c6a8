// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace atelier::gpu::host {

/// Element types of the kernels. bfloat16 is multiplied without conversion
/// where the processor can, otherwise widened to float32 first; sums are
/// float32.
enum class element : uint8_t { float32, bfloat16 };

constexpr int64_t bytes_of(element x) {
  return x == element::float32 ? 4 : 2;
}

/// Outputs are computed, and weights stored, in panels of this many columns.
constexpr int64_t panel_width = 64;

/// The operation after the sums.
enum class dense_end : uint8_t {
  /// Adds the bias, and `onto` if given.
  add,
  /// Multiplies the first half of each panel by GELU of the second (both with
  /// bias), which yields half as many outputs.
  gelu_gate,
};

/// A feature map [n, height, width, channels], channels without gaps.
struct dense_input {
  const void* pixels = nullptr;
  /// Elements from one pixel to the next.
  int64_t pixel_stride = 0;
  int64_t height = 1;
  int64_t width = 1;
  /// If given, the map is enlarged to height x width: row y is the stored row
  /// row_of[y], and column x is the stored column column_of[x].
  const int32_t* row_of = nullptr;
  const int32_t* column_of = nullptr;
  int64_t stored_height = 1;
  int64_t stored_width = 1;
};

/// One term of the sum: `channels` of one input at an offset from the output's
/// pixel.
struct dense_piece {
  int64_t input = 0;
  /// At least one.
  int64_t channels = 0;
  int64_t dy = 0;
  int64_t dx = 0;
};

/// A matrix product, or a convolution as one: for each of `rows` output pixels
/// and each of `columns`, the sum over all pieces of pixel times weight. A
/// row's result depends only on that row, bit for bit.
struct dense_job {
  element type = element::float32;
  const dense_input* inputs = nullptr;
  const dense_piece* pieces = nullptr;
  int64_t piece_count = 0;
  /// Output pixels: [n, out_height, out_width], `rows` in total.
  int64_t rows = 0;
  int64_t out_height = 1;
  int64_t out_width = 1;
  /// Input pixels between neighbouring output pixels.
  int64_t stride = 1;

  /// Columns of the sums; with dense_end::gelu_gate, twice the outputs.
  int64_t columns = 0;
  /// In the layout of pack_dense, 64-byte aligned.
  const void* weights = nullptr;
  /// Elements from one panel of `weights` to the next.
  int64_t panel_elements = 0;
  /// [columns rounded up to whole panels], in the order of `weights`.
  const float* bias = nullptr;
  /// Zeros, as many elements as the widest piece has channels.
  const void* zeros = nullptr;

  dense_end end = dense_end::add;
  /// Added to the result if given; may be `out`.
  const void* onto = nullptr;
  int64_t onto_stride = 0;
  void* out = nullptr;
  int64_t out_stride = 0;
};

/// Returns the number of independent tasks in a job.
int64_t count_dense_tasks(const dense_job& job);

/// Runs tasks first..last of a job.
/// Threads: any number at once on different tasks.
/// @pre runs_kernels()
void run_dense(const dense_job& job, int64_t first, int64_t last);

/// Returns how many elements pack_dense writes for one piece of a panel.
constexpr int64_t packed_elements(int64_t channels) {
  return channels * panel_width;
}

/// The source of weights for some pieces of a panel, all with the same number
/// of channels.
struct dense_source {
  /// The weight of column j, piece p and channel c is source[j * column_stride
  /// + p * piece_stride + c * channel_stride].
  const void* weights = nullptr;
  int64_t column_stride = 0;
  int64_t channel_stride = 0;
  int64_t channels = 0;
  int64_t pieces = 1;
  int64_t piece_stride = 0;
};

/// Packs `columns` (at most panel_width) columns of consecutive pieces, from
/// column `at` of the panel on. The rest of the panel is not written: it must
/// hold zeros if no more columns follow. bfloat16 requires an even number of
/// channels.
/// @pre runs_kernels()
void pack_dense(element type, const dense_source& from, int64_t columns,
                int64_t at, void* to);

} // namespace atelier::gpu::host
