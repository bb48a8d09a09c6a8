// SPDX-License-Identifier: Apache-2.0

// The vectors that a folder keeps, by which its entries are found.

#include <atelier/core/log.hpp>
#include <atelier/index/store/detail/folder_medium.hpp>
#include <atelier/ipc/checksum.hpp>

#include <cmath>
#include <string_view>
#include <utility>

namespace atelier::index::detail {

namespace {

/// Returns whether a vector of the disk may be that of a text or an image.
bool is_unit(std::span<const float> vector, size_t dimensions) {
  constexpr double rounding = 1e-3;
  double squares = 0;
  for (const double x : vector)
    squares += x * x;
  return vector.size() == dimensions && std::abs(squares - 1) < rounding;
}

} // namespace

core::result<folder_medium::numbered_vectors> folder_medium::encoded_texts(
  const std::map<uint64_t, std::string>& texts) const {
  std::vector<std::string_view> all;
  for (const auto& [number, text] : texts)
    all.push_back(text);
  auto made = encoded_all(*with_.encoder, all);
  numbered_vectors out;
  size_t place = 0;
  for (const auto& [number, text] : texts)
    if (auto& vector = made[place++].vector; !vector.empty())
      out.emplace(number, std::move(vector));
  if (auto ok = keep_vectors(out); !ok)
    return ok.why();
  return out;
}

core::result<void> folder_medium::encode_images(
  const std::vector<unseen_image>& all, loaded_medium& out) {
  // A start that is ended early leaves the vectors that it has made.
  constexpr size_t at_once = 64;
  if (all.empty())
    return {};
  core::log_info("cache: the images of {} entries are read for their vectors",
                 all.size());
  numbered_vectors fresh;
  const auto keep_fresh = [&] {
    auto ok = keep_vectors(fresh);
    out.vectors.merge(fresh);
    fresh.clear();
    return ok;
  };
  for (const auto& x : all) {
    const auto bytes = files_.read(x.number, x.part.offset, x.part.bytes);
    if (!bytes && bytes.why().code == core::ec::io_failed) {
      core::log_warn("cache: {}", bytes.why().text);
      ++failed_;
      continue;
    }
    if (!bytes || ipc::xxh3(*bytes) != x.part.checksum) {
      out.damaged.push_back(x.number);
      continue;
    }
    auto made = index::encoded(*with_.images, *bytes, x.px);
    if (made.failed)
      ++failed_;
    else if (!made.vector.empty())
      fresh.emplace(x.number, std::move(made.vector));
    if (fresh.size() == at_once)
      if (auto ok = keep_fresh(); !ok)
        return ok;
  }
  return keep_fresh();
}

std::string folder_medium::identity() const {
  return with_.images ? with_.images->identity() : with_.encoder->identity();
}

core::result<folder_medium::numbered_vectors> folder_medium::kept_vectors()
  const {
  numbered_vectors out;
  const auto ours = identity();
  if (ours.empty())
    return out;
  if (auto ok = rows_.read_vectors([&](vector_row row) {
        if (row.encoder == ours
            && is_unit(row.vector, with_.encoder->dimensions()))
          out.emplace(row.number, std::move(row.vector));
      });
      !ok)
    return ok.why();
  return out;
}

core::result<void> folder_medium::keep_vectors(
  const numbered_vectors& added) const {
  const auto ours = identity();
  if (ours.empty() || added.empty())
    return {};
  std::vector<vector_row> all;
  for (const auto& [number, vector] : added)
    all.push_back({number, ours, vector});
  return rows_.put_vectors(all);
}

} // namespace atelier::index::detail
