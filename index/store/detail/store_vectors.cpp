// SPDX-License-Identifier: Apache-2.0

// The vectors of a store's texts.

#include <atelier/index/store/detail/store_impl.hpp>

#include <cmath>
#include <string_view>
#include <utility>

namespace atelier::index {

namespace {

/// Returns whether a vector of the disk may be that of a text.
bool is_unit(std::span<const float> vector, size_t dimensions) {
  constexpr double rounding = 1e-3;
  double squares = 0;
  for (const double x : vector)
    squares += x * x;
  return vector.size() == dimensions && std::abs(squares - 1) < rounding;
}

} // namespace

std::map<uint64_t, std::vector<float>> store::impl::encoded_vectors(
  const std::map<uint64_t, std::string>& texts) const {
  std::vector<std::string_view> all;
  for (const auto& [number, text] : texts)
    all.push_back(text);
  auto made = encoded_all(*with.encoder, all);
  std::map<uint64_t, std::vector<float>> out;
  size_t place = 0;
  for (const auto& [number, text] : texts)
    if (auto& vector = made[place++].vector; !vector.empty())
      out.emplace(number, std::move(vector));
  return out;
}

core::result<std::map<uint64_t, std::vector<float>>> store::impl::kept_vectors()
  const {
  std::map<uint64_t, std::vector<float>> out;
  const auto identity = with.encoder->identity();
  if (identity.empty())
    return out;
  if (auto ok = rows.read_vectors([&](detail::vector_row row) {
        if (row.encoder == identity
            && is_unit(row.vector, with.encoder->dimensions()))
          out.emplace(row.number, std::move(row.vector));
      });
      !ok)
    return ok.why();
  return out;
}

core::result<void> store::impl::keep_vectors(
  const std::map<uint64_t, std::vector<float>>& added) const {
  const auto identity = with.encoder->identity();
  if (identity.empty() || added.empty())
    return {};
  std::vector<detail::vector_row> all;
  for (const auto& [number, vector] : added)
    all.push_back({number, identity, vector});
  return rows.put_vectors(all);
}

} // namespace atelier::index
