// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/kernels/detail/dense_rows.hpp>
#include <atelier/gpu/kernels/detail/kernel_target.hpp>
#include <atelier/gpu/kernels/host_dense.hpp>

namespace atelier::gpu::host {

namespace detail {

int64_t count_panels(const dense_job& job) {
  return (job.columns + panel_width - 1) / panel_width;
}

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

} // namespace detail

int64_t count_dense_tasks(const dense_job& job) {
  return (job.rows + detail::block_rows - 1) / detail::block_rows
       * detail::count_panels(job);
}

void run_dense(const dense_job& job, int64_t first, int64_t last) {
  detail::chosen_target().run_dense(job, first, last);
}

void pack_dense(element type, const dense_source& from, int64_t columns,
                int64_t at, void* to) {
  detail::chosen_target().pack_dense(type, from, columns, at, to);
}

} // namespace atelier::gpu::host
