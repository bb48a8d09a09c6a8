// SPDX-License-Identifier: Apache-2.0
// Compiled for AVX-512. A task is one panel of columns by up to `block_rows`
// rows, whose sums stay in the second-level cache. Each piece is processed in
// chunks of channels, up to `chunk_bytes` of a row; the weights of a chunk are
// used for all rows before the next. The innermost loop keeps 6 rows by 64
// columns in registers.
#include <atelier/gpu/kernels/detail/vectors.hpp>
#include <atelier/gpu/kernels/host_dense.hpp>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace atelier::gpu::host {

namespace {

using namespace detail;

constexpr int64_t block_rows = 192;
constexpr int64_t tile_rows = 6;
constexpr int64_t chunk_bytes = 1280;
constexpr size_t row_floats = panel_width;

// Adds the products of `count` channels from `first` on (in pairs, if bfloat16)
// to sums [rows, panel_width].
template <size_t Rows, size_t Vectors, class Element>
void add_products(const void* const* rows, int64_t first, int64_t count,
                  const Element* weights, float* sums, bool clear) {
  __m512 sum[Rows][Vectors];
  ATELIER_UNROLL
  for (size_t i = 0; i < Rows; ++i) {
    ATELIER_UNROLL
    for (size_t j = 0; j < Vectors; ++j)
      sum[i][j] = clear ? _mm512_setzero_ps()
                        : _mm512_load_ps(sums + i * row_floats + j * 16);
  }
  if constexpr (sizeof(Element) == 4) {
    const float* row[Rows];
    ATELIER_UNROLL
    for (size_t i = 0; i < Rows; ++i)
      row[i] = static_cast<const float*>(rows[i]) + first;
    for (int64_t k = 0; k < count; ++k, weights += panel_width) {
      __m512 w[Vectors];
      ATELIER_UNROLL
      for (size_t j = 0; j < Vectors; ++j)
        w[j] = _mm512_load_ps(weights + 16 * j);
      ATELIER_UNROLL
      for (size_t i = 0; i < Rows; ++i) {
        const auto x = _mm512_set1_ps(row[i][k]);
        ATELIER_UNROLL
        for (size_t j = 0; j < Vectors; ++j)
          sum[i][j] = _mm512_fmadd_ps(x, w[j], sum[i][j]);
      }
    }
  } else {
    const char* row[Rows];
    ATELIER_UNROLL
    for (size_t i = 0; i < Rows; ++i)
      row[i] = static_cast<const char*>(rows[i]) + first * 2;
    for (int64_t k = 0; k < count; k += 2, weights += 2 * panel_width) {
      __m512bh w[Vectors];
      ATELIER_UNROLL
      for (size_t j = 0; j < Vectors; ++j)
        w[j] = (__m512bh)_mm512_load_si512(weights + 32 * j);
      ATELIER_UNROLL
      for (size_t i = 0; i < Rows; ++i) {
        int32_t pair;
        std::memcpy(&pair, row[i] + k * 2, sizeof pair);
        const auto x = (__m512bh)_mm512_set1_epi32(pair);
        ATELIER_UNROLL
        for (size_t j = 0; j < Vectors; ++j)
          sum[i][j] = _mm512_dpbf16_ps(sum[i][j], x, w[j]);
      }
    }
  }
  ATELIER_UNROLL
  for (size_t i = 0; i < Rows; ++i) {
    ATELIER_UNROLL
    for (size_t j = 0; j < Vectors; ++j)
      _mm512_store_ps(sums + i * row_floats + j * 16, sum[i][j]);
  }
}

template <class Element>
using adder = void (*)(const void* const*, int64_t, int64_t, const Element*,
                       float*, bool);

// The functions by number of rows (less one) and vectors (less one).
template <class Element>
constexpr adder<Element> adders[tile_rows][4] = {
  {add_products<1, 1>, add_products<1, 2>, add_products<1, 3>,
   add_products<1, 4>},
  {add_products<2, 1>, add_products<2, 2>, add_products<2, 3>,
   add_products<2, 4>},
  {add_products<3, 1>, add_products<3, 2>, add_products<3, 3>,
   add_products<3, 4>},
  {add_products<4, 1>, add_products<4, 2>, add_products<4, 3>,
   add_products<4, 4>},
  {add_products<5, 1>, add_products<5, 2>, add_products<5, 3>,
   add_products<5, 4>},
  {add_products<6, 1>, add_products<6, 2>, add_products<6, 3>,
   add_products<6, 4>}};

// Writes the address of each row's pixel for each piece.
void find_rows(const dense_job& job, int64_t first, int64_t count,
               const void** to) {
  const auto area = job.out_height * job.out_width;
  const auto size = bytes_of(job.type);
  for (int64_t p = 0; p < job.piece_count; ++p, to += block_rows) {
    const auto& piece = job.pieces[p];
    const auto& in = job.inputs[piece.input];
    for (int64_t i = 0; i < count; ++i) {
      const auto n = (first + i) / area;
      const auto at = (first + i) % area;
      auto y = at / job.out_width * job.stride + piece.dy;
      auto x = at % job.out_width * job.stride + piece.dx;
      if (y < 0 || x < 0 || y >= in.height || x >= in.width) {
        to[i] = job.zeros;
        continue;
      }
      if (in.row_of != nullptr) {
        y = in.row_of[y];
        x = in.column_of[x];
      }
      to[i] = static_cast<const char*>(in.pixels)
            + ((n * in.stored_height + y) * in.stored_width + x)
                * in.pixel_stride * size;
    }
  }
}

template <class Element>
void finish_adding(const dense_job& job, int64_t row, int64_t rows,
                   int64_t panel, const float* sums) {
  const auto column = panel * panel_width;
  const auto width = job.columns - column;
  const auto* onto = static_cast<const Element*>(job.onto);
  auto* out = static_cast<Element*>(job.out);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < panel_width && j < width; j += 16) {
      const auto mask = lanes(width - j);
      auto x = _mm512_add_ps(_mm512_load_ps(sums + i * panel_width + j),
                             _mm512_loadu_ps(job.bias + column + j));
      if (onto != nullptr)
        x = _mm512_add_ps(
          x, load(onto + (row + i) * job.onto_stride + column + j, mask));
      store(out + (row + i) * job.out_stride + column + j, mask, x);
    }
}

template <class Element>
void finish_gating(const dense_job& job, int64_t row, int64_t rows,
                   int64_t panel, const float* sums) {
  constexpr auto half = panel_width / 2;
  const auto column = panel * half;
  const auto width = job.columns / 2 - column;
  const auto* bias = job.bias + panel * panel_width;
  auto* out = static_cast<Element*>(job.out);
  for (int64_t i = 0; i < rows; ++i, sums += panel_width)
    for (int64_t j = 0; j < half && j < width; j += 16) {
      const auto value =
        _mm512_add_ps(_mm512_load_ps(sums + j), _mm512_loadu_ps(bias + j));
      const auto gate = _mm512_add_ps(_mm512_load_ps(sums + half + j),
                                      _mm512_loadu_ps(bias + half + j));
      store(out + (row + i) * job.out_stride + column + j, lanes(width - j),
            _mm512_mul_ps(value, gelu_of(gate)));
    }
}

int64_t count_panels(const dense_job& job) {
  return (job.columns + panel_width - 1) / panel_width;
}

// A thread's buffers.
struct scratch {
  explicit scratch(const dense_job& job)
    : sums(static_cast<float*>(
      std::aligned_alloc(64, block_rows * panel_width * sizeof(float)))),
      rows(new const void*[static_cast<size_t>(job.piece_count * block_rows)]) {
    if (!sums)
      throw std::bad_alloc{};
  }

  struct freer {
    void operator()(float* x) const {
      std::free(x);
    }
  };

  std::unique_ptr<float, freer> sums;
  std::unique_ptr<const void*[]> rows;
};

template <class Element>
void run(const dense_job& job, int64_t first, int64_t last) {
  constexpr auto size = static_cast<int64_t>(sizeof(Element));
  const auto panels = count_panels(job);
  const scratch with{job};
  int64_t found = -1;
  for (auto task = first; task < last; ++task) {
    const auto block = task / panels;
    const auto panel = task % panels;
    const auto row = block * block_rows;
    const auto rows = job.rows - row < block_rows ? job.rows - row : block_rows;
    if (block != found)
      find_rows(job, row, rows, with.rows.get());
    found = block;
    const auto left = job.columns - panel * panel_width;
    const auto whole = left >= panel_width || job.end == dense_end::gelu_gate;
    const auto vectors = whole ? 4 : (left + 15) / 16;
    const auto* weights =
      static_cast<const Element*>(job.weights) + panel * job.panel_elements;
    auto clear = true;
    for (int64_t p = 0; p < job.piece_count; ++p) {
      const auto channels = job.pieces[p].channels;
      const auto chunks = (channels * size + chunk_bytes - 1) / chunk_bytes;
      const auto chunk = ((channels + chunks - 1) / chunks + 15) / 16 * 16;
      const auto* const* at = with.rows.get() + p * block_rows;
      for (int64_t c = 0; c < channels; c += chunk) {
        const auto count = channels - c < chunk ? channels - c : chunk;
        for (int64_t i = 0; i < rows; i += tile_rows) {
          const auto tile = rows - i < tile_rows ? rows - i : tile_rows;
          adders<Element>[tile - 1][vectors - 1](
            at + i, c, count, weights, with.sums.get() + i * panel_width,
            clear);
        }
        clear = false;
        weights += packed_elements(count);
      }
    }
    if (job.end == dense_end::gelu_gate)
      finish_gating<Element>(job, row, rows, panel, with.sums.get());
    else
      finish_adding<Element>(job, row, rows, panel, with.sums.get());
  }
}

} // namespace

int64_t count_dense_tasks(const dense_job& job) {
  return (job.rows + block_rows - 1) / block_rows * count_panels(job);
}

void run_dense(const dense_job& job, int64_t first, int64_t last) {
  if (job.type == element::float32)
    run<float>(job, first, last);
  else
    run<bfloat16>(job, first, last);
}

} // namespace atelier::gpu::host
