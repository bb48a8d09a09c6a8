// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/catalog/detail/folder_links.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

namespace atelier::gpu::detail {

namespace {

namespace fs = std::filesystem;
using core::ec;

constexpr std::array<std::string_view, 8> parts{
  "unet",           "vae",       "vae_preview", "text_encoder",
  "text_encoder_2", "tokenizer", "tokenizer_2", "scheduler"};

/// The endings of the files that are read.
constexpr std::array<std::string_view, 3> endings{".json", ".txt",
                                                  ".safetensors"};

template <class Range>
bool contains(const Range& range, std::string_view x) {
  return std::find(range.begin(), range.end(), x) != range.end();
}

/// Returns whether `x` is in `folder`. Both are canonical.
bool lies_in(const fs::path& x, const fs::path& folder) {
  const auto [end, ignored] =
    std::mismatch(folder.begin(), folder.end(), x.begin(), x.end());
  return end == folder.end();
}

bool is_allowed(const fs::path& target, const fs::path& root) {
  if (lies_in(target, root))
    return true;
  std::error_code ignored;
  const auto around = root.parent_path();
  if (lies_in(target, around)) {
    const auto neighbour = around / *target.lexically_relative(around).begin();
    if (fs::exists(neighbour / "model_index.json", ignored))
      return true;
  }
  // CACHE/models--NAME/snapshots/REVISION, or a part of it.
  for (const auto& x : {root, around})
    if (x.parent_path().filename() == "snapshots"
        && lies_in(target, x.parent_path().parent_path() / "blobs"))
      return true;
  return false;
}

core::result<void> check_entry(const fs::path& entry, const fs::path& root) {
  std::error_code error;
  if (!fs::is_symlink(fs::symlink_status(entry, error)))
    return {};
  const auto target = fs::canonical(entry, error);
  // A broken link is reported as a missing file.
  if (error || is_allowed(target, root))
    return {};
  return core::fail(
    ec::bad_payload,
    "{}: it is a link to {}, which is outside the model's folder; if the model "
    "can be trusted, allow it with links = \"anywhere\" in [[models]], "
    "or "
    "models --links anywhere",
    entry.string(), target.string());
}

core::result<void> check_folder(const fs::path& folder, const fs::path& root,
                                bool with_parts) {
  std::error_code error;
  for (fs::directory_iterator i{folder, error}, end; !error && i != end;
       i.increment(error)) {
    const auto& entry = i->path();
    const bool part = with_parts && contains(parts, entry.filename().string());
    if (!part && !contains(endings, entry.extension().string()))
      continue;
    if (auto good = check_entry(entry, root); !good)
      return good;
    std::error_code ignored;
    if (part && fs::is_directory(entry, ignored))
      if (auto good = check_folder(entry, root, false); !good)
        return good;
  }
  if (error)
    return core::fail(ec::io_failed, "{}: {}", folder.string(),
                      error.message());
  return {};
}

} // namespace

core::result<void> check_links(const fs::path& folder) {
  std::error_code error;
  const auto root = fs::canonical(folder, error);
  if (error)
    return core::fail(ec::io_failed, "{}: {}", folder.string(),
                      error.message());
  return check_folder(folder, root, true);
}

} // namespace atelier::gpu::detail
