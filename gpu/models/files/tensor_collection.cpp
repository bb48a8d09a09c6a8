// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/tensor_collection.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace atelier::gpu::detail {

std::optional<tensor_view> tensor_collection::find(
  std::string_view name) const {
  const auto i = tensors_.find(name);
  if (i == tensors_.end())
    return std::nullopt;
  return i->second;
}

std::vector<std::string> tensor_collection::names() const {
  std::vector<std::string> out;
  out.reserve(tensors_.size());
  for (const auto& [name, x] : tensors_)
    out.push_back(name);
  return out;
}

std::string tensor_collection::where() const {
  return where_;
}

bool has_prefix(const std::vector<std::string>& sorted_names,
                std::string_view prefix) {
  const auto i =
    std::lower_bound(sorted_names.begin(), sorted_names.end(), prefix);
  return i != sorted_names.end() && i->starts_with(prefix);
}

size_t count_numbered(const std::vector<std::string>& sorted_names,
                      std::string_view prefix) {
  size_t n = 0;
  while (has_prefix(sorted_names, fmt::format("{}{}.", prefix, n)))
    ++n;
  return n;
}

} // namespace atelier::gpu::detail
