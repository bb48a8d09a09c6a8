// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/http/detail/jobs/image_rows.hpp>

namespace atelier::runtime::http::detail {

void image_rows::submitted(uint32_t index, uint64_t request) {
  auto& row = rows_[index];
  row.request = request;
  row.handed_in = !std::exchange(row.put_back_early, false);
}

void image_rows::put_back(uint32_t index) {
  auto& row = rows_[index];
  row.put_back_early = !std::exchange(row.handed_in, false);
}

void image_rows::step(uint32_t index, uint32_t done, uint32_t steps) {
  rows_[index].steps_done = done;
  rows_[index].steps = steps;
}

void image_rows::drawn(uint32_t index, uint32_t run) {
  auto& row = rows_[index];
  row.steps = row.steps_done = row.steps > 0 ? row.steps : run;
}

bool image_rows::cancel(uint32_t index) {
  if (!finish(index))
    return false;
  rows_[index].cancelled = true;
  return true;
}

std::vector<uint64_t> image_rows::open() const {
  std::vector<uint64_t> found;
  for (const auto& row : rows_)
    if (row.handed_in && !row.ended)
      found.push_back(row.request);
  return found;
}

std::vector<uint32_t> image_rows::cancelled() const {
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].cancelled)
      found.push_back(i);
  return found;
}

} // namespace atelier::runtime::http::detail
