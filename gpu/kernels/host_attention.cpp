// SPDX-License-Identifier: Apache-2.0
// Compiled for AVX-512. A task is up to `block_queries` queries of one head.
// Its keys are laid out in panels of 64 (transposed), its values in rows padded
// to whole vectors. Then each key block is processed in tiles of 6 queries:
// scores, the running maximum and sum, and the weighted values, all in the
// caches.
#include <atelier/gpu/kernels/detail/vectors.hpp>
#include <atelier/gpu/kernels/host_attention.hpp>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace atelier::gpu::host {

namespace {

using namespace detail;

constexpr int64_t block_queries = 384;
constexpr int64_t block_keys = 512;
constexpr int64_t tile_queries = 6;
constexpr size_t score_stride = block_keys;
// Far below every score, and finite, so that differences are finite too.
constexpr float lowest = -1e30F;

// Adds the products of x[row][k] and w[k][...] to sums [Rows][Vectors];
// bfloat16 is in pairs of k.
template <size_t Rows, size_t Vectors, class Element>
inline void multiply(__m512 (&sum)[Rows][Vectors], const Element* const* x,
                     int64_t count, const Element* w, int64_t w_stride) {
  if constexpr (sizeof(Element) == 4) {
    for (int64_t k = 0; k < count; ++k, w += w_stride) {
      __m512 y[Vectors];
      ATELIER_UNROLL
      for (size_t j = 0; j < Vectors; ++j)
        y[j] = _mm512_load_ps(w + 16 * j);
      ATELIER_UNROLL
      for (size_t i = 0; i < Rows; ++i) {
        const auto a = _mm512_set1_ps(x[i][k]);
        ATELIER_UNROLL
        for (size_t j = 0; j < Vectors; ++j)
          sum[i][j] = _mm512_fmadd_ps(a, y[j], sum[i][j]);
      }
    }
  } else {
    for (int64_t k = 0; k < count; k += 2, w += 2 * w_stride) {
      __m512bh y[Vectors];
      ATELIER_UNROLL
      for (size_t j = 0; j < Vectors; ++j)
        y[j] = (__m512bh)_mm512_load_si512(w + 32 * j);
      ATELIER_UNROLL
      for (size_t i = 0; i < Rows; ++i) {
        int32_t pair;
        std::memcpy(&pair, x[i] + k, sizeof pair);
        const auto a = (__m512bh)_mm512_set1_epi32(pair);
        ATELIER_UNROLL
        for (size_t j = 0; j < Vectors; ++j)
          sum[i][j] = _mm512_dpbf16_ps(sum[i][j], a, y[j]);
      }
    }
  }
}

// Computes the scores of one panel of keys.
template <size_t Rows, size_t Vectors, class Element>
void score(const Element* const* queries, int64_t width, const Element* keys,
           float* to) {
  const Element* x[Rows];
  ATELIER_UNROLL
  for (size_t i = 0; i < Rows; ++i)
    x[i] = queries[i];
  __m512 sum[Rows][Vectors];
  ATELIER_UNROLL
  for (size_t i = 0; i < Rows; ++i) {
    ATELIER_UNROLL
    for (size_t j = 0; j < Vectors; ++j)
      sum[i][j] = _mm512_setzero_ps();
  }
  multiply<Rows, Vectors, Element>(sum, x, width, keys, panel_width);
  ATELIER_UNROLL
  for (size_t i = 0; i < Rows; ++i) {
    ATELIER_UNROLL
    for (size_t j = 0; j < Vectors; ++j)
      _mm512_store_ps(to + i * score_stride + j * 16, sum[i][j]);
  }
}

// Scales the previous sums and adds the values of one block of keys.
template <size_t Rows, size_t Vectors, class Element>
void weigh(const Element* shares, int64_t count, const Element* values,
           int64_t value_stride, const float* factors, float* sums,
           int64_t sum_stride) {
  const Element* x[Rows];
  __m512 sum[Rows][Vectors];
  ATELIER_UNROLL
  for (size_t i = 0; i < Rows; ++i) {
    x[i] = shares + i * score_stride;
    const auto factor = _mm512_set1_ps(factors[i]);
    ATELIER_UNROLL
    for (size_t j = 0; j < Vectors; ++j)
      sum[i][j] = _mm512_mul_ps(
        factor,
        _mm512_load_ps(sums + static_cast<int64_t>(i) * sum_stride + j * 16));
  }
  multiply<Rows, Vectors, Element>(sum, x, count, values, value_stride);
  ATELIER_UNROLL
  for (size_t i = 0; i < Rows; ++i) {
    ATELIER_UNROLL
    for (size_t j = 0; j < Vectors; ++j)
      _mm512_store_ps(sums + static_cast<int64_t>(i) * sum_stride + j * 16,
                      sum[i][j]);
  }
}

template <class Element>
using scorer = void (*)(const Element* const*, int64_t, const Element*, float*);

template <class Element>
using weigher = void (*)(const Element*, int64_t, const Element*, int64_t,
                         const float*, float*, int64_t);

// The functions by number of queries (less one) and vectors (less one).
template <class Element>
constexpr scorer<Element> scorers[tile_queries][4] = {
  {score<1, 1>, score<1, 2>, score<1, 3>, score<1, 4>},
  {score<2, 1>, score<2, 2>, score<2, 3>, score<2, 4>},
  {score<3, 1>, score<3, 2>, score<3, 3>, score<3, 4>},
  {score<4, 1>, score<4, 2>, score<4, 3>, score<4, 4>},
  {score<5, 1>, score<5, 2>, score<5, 3>, score<5, 4>},
  {score<6, 1>, score<6, 2>, score<6, 3>, score<6, 4>}};

template <class Element>
constexpr weigher<Element> weighers[tile_queries][4] = {
  {weigh<1, 1>, weigh<1, 2>, weigh<1, 3>, weigh<1, 4>},
  {weigh<2, 1>, weigh<2, 2>, weigh<2, 3>, weigh<2, 4>},
  {weigh<3, 1>, weigh<3, 2>, weigh<3, 3>, weigh<3, 4>},
  {weigh<4, 1>, weigh<4, 2>, weigh<4, 3>, weigh<4, 4>},
  {weigh<5, 1>, weigh<5, 2>, weigh<5, 3>, weigh<5, 4>},
  {weigh<6, 1>, weigh<6, 2>, weigh<6, 3>, weigh<6, 4>}};

template <class T>
class aligned {
public:
  explicit aligned(int64_t count)
    : at_(static_cast<T*>(std::aligned_alloc(
      64, (static_cast<size_t>(count) * sizeof(T) + 63) / 64 * 64))) {
    if (at_ == nullptr)
      throw std::bad_alloc{};
  }

  ~aligned() {
    std::free(at_);
  }

  aligned(const aligned&) = delete;
  aligned& operator=(const aligned&) = delete;

  T* get() const {
    return at_;
  }

private:
  T* at_;
};

constexpr int64_t round_up(int64_t x, int64_t to) {
  return (x + to - 1) / to * to;
}

// A thread's buffers.
template <class Element>
struct scratch {
  explicit scratch(const attention_job& job)
    : key_room(round_up(job.key_tokens, panel_width)),
      value_width(round_up(job.head_width, 16)),
      keys(key_room * job.head_width),
      values(key_room * value_width),
      scores(tile_queries * block_keys),
      shares(tile_queries * block_keys),
      sums(block_queries * value_width),
      most(block_queries),
      total(block_queries) {}

  int64_t key_room;
  int64_t value_width;
  aligned<Element> keys;
  aligned<Element> values;
  aligned<float> scores;
  // Not used for float32, whose scores become shares in place.
  aligned<Element> shares;
  aligned<float> sums;
  aligned<float> most;
  aligned<float> total;
};

template <class Element>
const Element* head_of(const attention_input& in, int64_t row, int64_t head,
                       int64_t width) {
  return static_cast<const Element*>(in.tokens) + row * in.row_stride
       + head * width;
}

template <class Element>
void lay_out(const attention_job& job, const Element* keys,
             const Element* values, scratch<Element>& with) {
  constexpr int64_t pair = sizeof(Element) == 4 ? 1 : 2;
  const auto width = job.head_width;
  const auto tail = with.key_room - job.key_tokens;
  auto* to = with.keys.get();
  for (int64_t t = 0; t < with.key_room; ++t) {
    auto* at =
      to + t / panel_width * panel_width * width + t % panel_width * pair;
    const auto* from = keys + t * job.keys.token_stride;
    const auto there = t < job.key_tokens;
    for (int64_t d = 0; d < width; d += pair)
      for (int64_t e = 0; e < pair; ++e)
        at[d * panel_width + e] = there ? from[d + e] : Element{};
  }
  auto* v = with.values.get();
  const auto wide = with.value_width;
  if (tail > 0 || wide > width)
    std::memset(v, 0,
                static_cast<size_t>(with.key_room * wide) * sizeof(Element));
  for (int64_t t = 0; t < job.key_tokens; ++t) {
    const auto* from = values + t * job.values.token_stride;
    auto* at = v + t / pair * pair * wide + t % pair;
    for (int64_t d = 0; d < width; ++d)
      at[d * pair] = from[d];
  }
}

// Turns scores into shares of e^score, relative to the maximum so far.
template <class Element>
void take_shares(const attention_job& job, int64_t tile, int64_t keys,
                 float* scores, Element* shares, float* most, float* total,
                 float* factors) {
  const auto log2_scale = job.scale * 1.44269504F;
  const auto by = _mm512_set1_ps(log2_scale);
  const auto room = round_up(keys, 16);
  for (int64_t i = 0; i < tile; ++i) {
    auto* row = scores + i * block_keys;
    if (keys < room) {
      const auto last = room - 16;
      _mm512_store_ps(row + last, _mm512_mask_blend_ps(
                                    lanes(keys - last), _mm512_set1_ps(lowest),
                                    _mm512_load_ps(row + last)));
    }
    auto high = _mm512_set1_ps(most[i]);
    for (int64_t j = 0; j < room; j += 16)
      high = _mm512_max_ps(high, _mm512_load_ps(row + j));
    const auto now = _mm512_reduce_max_ps(high);
    const auto offset = _mm512_set1_ps(now * log2_scale);
    auto sum = _mm512_setzero_ps();
    for (int64_t j = 0; j < room; j += 16) {
      const auto share =
        exp2_of(_mm512_fmsub_ps(_mm512_load_ps(row + j), by, offset));
      sum = _mm512_add_ps(sum, share);
      store(shares + i * block_keys + j, share);
    }
    factors[i] =
      _mm512_cvtss_f32(exp2_of(_mm512_set1_ps((most[i] - now) * log2_scale)));
    total[i] = total[i] * factors[i] + _mm512_reduce_add_ps(sum);
    most[i] = now;
  }
}

template <class Element>
void attend(const attention_job& job, const Element* queries, int64_t count,
            scratch<Element>& with) {
  const auto width = job.head_width;
  const auto wide = with.value_width;
  auto* const shares = [&] {
    if constexpr (sizeof(Element) == 4)
      return with.scores.get();
    else
      return with.shares.get();
  }();
  std::memset(with.sums.get(), 0,
              static_cast<size_t>(count * wide) * sizeof(float));
  for (int64_t i = 0; i < count; ++i) {
    with.most.get()[i] = lowest;
    with.total.get()[i] = 0;
  }
  for (int64_t k = 0; k < job.key_tokens; k += block_keys) {
    const auto keys =
      job.key_tokens - k < block_keys ? job.key_tokens - k : block_keys;
    const auto* const packed = with.keys.get() + k * width;
    const auto* const values = with.values.get() + k * wide;
    for (int64_t q = 0; q < count; q += tile_queries) {
      const auto tile = count - q < tile_queries ? count - q : tile_queries;
      const Element* x[tile_queries];
      for (int64_t i = 0; i < tile; ++i)
        x[i] = queries + (q + i) * job.queries.token_stride;
      for (int64_t p = 0; p < keys; p += panel_width) {
        const auto left = keys - p;
        const auto vectors = left >= panel_width ? 4 : (left + 15) / 16;
        scorers<Element>[tile - 1][vectors - 1](x, width, packed + p * width,
                                                with.scores.get() + p);
      }
      float factors[tile_queries];
      take_shares<Element>(job, tile, keys, with.scores.get(), shares,
                           with.most.get() + q, with.total.get() + q, factors);
      // The passes are as few as possible and have about as many vectors each.
      const auto vectors = wide / 16;
      const auto passes = (vectors + 3) / 4;
      for (int64_t pass = 0, v = 0; pass < passes; ++pass) {
        const auto here = (vectors - v + passes - pass - 1) / (passes - pass);
        constexpr int64_t pair = sizeof(Element) == 4 ? 1 : 2;
        weighers<Element>[tile - 1][here - 1](
          shares, keys, values + v * 16 * pair, wide, factors,
          with.sums.get() + q * wide + v * 16, wide);
        v += here;
      }
    }
  }
}

template <class Element>
void run(const attention_job& job, int64_t first, int64_t last) {
  const auto blocks = (job.query_tokens + block_queries - 1) / block_queries;
  const auto width = job.head_width;
  scratch<Element> with{job};
  int64_t laid_out = -1;
  for (auto task = first; task < last; ++task) {
    const auto head = task / blocks % job.heads;
    const auto row = task / blocks / job.heads;
    const auto query = task % blocks * block_queries;
    const auto count = job.query_tokens - query < block_queries
                       ? job.query_tokens - query
                       : block_queries;
    if (task / blocks != laid_out)
      lay_out(job, head_of<Element>(job.keys, row, head, width),
              head_of<Element>(job.values, row, head, width), with);
    laid_out = task / blocks;
    attend(job,
           head_of<Element>(job.queries, row, head, width)
             + query * job.queries.token_stride,
           count, with);
    auto* out = static_cast<Element*>(job.out) + row * job.out_row_stride
              + query * job.out_token_stride + head * width;
    for (int64_t i = 0; i < count; ++i, out += job.out_token_stride) {
      const auto share = _mm512_set1_ps(1 / with.total.get()[i]);
      for (int64_t d = 0; d < width; d += 16)
        store(out + d, lanes(width - d),
              _mm512_mul_ps(share, _mm512_load_ps(with.sums.get()
                                                  + i * with.value_width + d)));
    }
  }
}

} // namespace

int64_t count_attention_tasks(const attention_job& job) {
  return (job.query_tokens + block_queries - 1) / block_queries * job.heads
       * job.rows;
}

void run_attention(const attention_job& job, int64_t first, int64_t last) {
  if (job.type == element::float32)
    run<float>(job, first, last);
  else
    run<bfloat16>(job, first, last);
}

} // namespace atelier::gpu::host
