// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/detail/inferred_part.hpp>
#include <atelier/gpu/models/files/printable.hpp>

#include <fmt/ranges.h>

#include <algorithm>

namespace atelier::gpu::detail {

namespace fs = std::filesystem;

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
