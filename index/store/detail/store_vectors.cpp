// SPDX-License-Identifier: Apache-2.0

// The vectors by which a store's entries are found.

#include <atelier/core/log.hpp>
#include <atelier/index/store/detail/store_impl.hpp>
#include <atelier/ipc/checksum.hpp>

#include <cmath>
#include <string_view>
#include <utility>

namespace atelier::index {

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

core::result<store::impl::numbered_vectors> store::impl::encoded_texts(
  const std::map<uint64_t, std::string>& texts) const {
  std::vector<std::string_view> all;
  for (const auto& [number, text] : texts)
    all.push_back(text);
  auto made = encoded_all(*with.encoder, all);
  numbered_vectors out;
  size_t place = 0;
  for (const auto& [number, text] : texts)
    if (auto& vector = made[place++].vector; !vector.empty())
      out.emplace(number, std::move(vector));
  if (auto ok = keep_vectors(out); !ok)
    return ok.why();
  return out;
}

core::result<store::impl::read_images> store::impl::encoded_images(
  const std::vector<kept_ptr>& entries) {
  // A start that is ended early leaves the vectors that it has made.
  constexpr size_t at_once = 64;
  read_images out;
  if (entries.empty())
    return out;
  core::log_info("cache: the images of {} entries are read for their vectors",
                 entries.size());
  numbered_vectors fresh;
  const auto keep_fresh = [&]() -> core::result<void> {
    auto ok = keep_vectors(fresh);
    out.vectors.merge(fresh);
    fresh.clear();
    return ok;
  };
  for (const auto& x : entries) {
    const auto& part = *x->part_of(0);
    // The image is the first part of the file.
    const auto bytes = files.read(x->number, 0, part.bytes);
    if (!bytes && bytes.why().code == core::ec::io_failed) {
      core::log_warn("cache: {}", bytes.why().text);
      ++counts.failed;
      continue;
    }
    if (!bytes || ipc::xxh3(*bytes) != part.checksum) {
      out.torn.push_back(x->number);
      continue;
    }
    auto made = index::encoded(*with.images, *bytes, x->px);
    if (made.failed)
      ++counts.failed;
    else if (!made.vector.empty())
      fresh.emplace(x->number, std::move(made.vector));
    if (fresh.size() == at_once)
      if (auto ok = keep_fresh(); !ok)
        return ok.why();
  }
  if (auto ok = keep_fresh(); !ok)
    return ok.why();
  return out;
}

std::string store::impl::identity() const {
  return with.images ? with.images->identity() : with.encoder->identity();
}

core::result<store::impl::numbered_vectors> store::impl::kept_vectors() const {
  numbered_vectors out;
  const auto ours = identity();
  if (ours.empty())
    return out;
  if (auto ok = rows.read_vectors([&](detail::vector_row row) {
        if (row.encoder == ours
            && is_unit(row.vector, with.encoder->dimensions()))
          out.emplace(row.number, std::move(row.vector));
      });
      !ok)
    return ok.why();
  return out;
}

core::result<void> store::impl::keep_vectors(
  const numbered_vectors& added) const {
  const auto ours = identity();
  if (ours.empty() || added.empty())
    return {};
  std::vector<detail::vector_row> all;
  for (const auto& [number, vector] : added)
    all.push_back({number, ours, vector});
  return rows.put_vectors(all);
}

} // namespace atelier::index
