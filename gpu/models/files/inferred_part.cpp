// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/inferred_part.hpp>
#include <atelier/gpu/models/files/printable.hpp>
#include <atelier/gpu/models/files/tensor_collection.hpp>

#include <fmt/ranges.h>

#include <algorithm>

namespace atelier::gpu::detail {

namespace fs = std::filesystem;

int64_t tensor_shapes::side(const std::string& name, size_t axis) {
  const auto x = from_.find(name);
  if (!x)
    fault(name, "is missing");
  else if (x->shape.size() <= axis || x->shape[axis] <= 0)
    fault(name, fmt::format("has no axis {}, or an empty one", axis));
  else
    return x->shape[axis];
  return 1;
}

size_t tensor_shapes::axes(const std::string& name) const {
  const auto x = from_.find(name);
  return x ? x->shape.size() : 0;
}

bool tensor_shapes::has(std::string_view prefix) const {
  return has_prefix(names_, prefix);
}

size_t tensor_shapes::count(std::string_view prefix) const {
  return count_numbered(names_, prefix);
}

void tensor_shapes::fault(const std::string& name, std::string_view what) {
  if (!fault_)
    fault_ = core::fail(core::ec::bad_payload, "{}: tensor {} {}",
                        from_.where(), name, what);
}

core::error bad_file(const fs::path& file, std::string_view what) {
  return core::fail(core::ec::bad_payload, "{}: {}", file.string(), what);
}

core::result<void> expect_none(const fs::path& file, std::string_view part,
                               const std::vector<std::string>& left_over) {
  if (left_over.empty())
    return {};
  std::vector<std::string> shown;
  for (size_t i = 0; i < std::min<size_t>(left_over.size(), 5); ++i)
    shown.push_back(printable(left_over[i]));
  return bad_file(file,
                  fmt::format("{} tensors have no place in the {}: {}{}",
                              left_over.size(), part, fmt::join(shown, ", "),
                              left_over.size() > shown.size() ? ", ..." : ""));
}

component inferred_part(const json_object& config,
                        std::shared_ptr<const tensor_source> weights,
                        const fs::path& file, std::string class_name) {
  return component{config.dump(2),
                   fmt::format("{} (read from its shapes)", file.string()),
                   std::move(class_name),
                   std::move(weights),
                   {file}};
}

} // namespace atelier::gpu::detail
