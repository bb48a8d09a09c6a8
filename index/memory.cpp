// SPDX-License-Identifier: Apache-2.0
#include <atelier/index/detail/medium.hpp>
#include <atelier/index/memory.hpp>

#include <utility>

namespace atelier::index {

namespace {

/// The payloads are held by the rows that the cache knows.
class memory_medium final : public detail::medium {
public:
  explicit memory_medium(size_t dimensions) : dimensions_(dimensions) {}

  uint64_t overhead(std::string_view key, std::string_view) const override {
    return bytes_of(key, {}, dimensions_);
  }

  core::result<payload> read(uint64_t, const detail::part_row& part) override {
    return part.held;
  }

  bool add(detail::entry_row& row, std::span<const payload> payloads,
           std::span<const float>,
           std::span<const detail::numbered_uses>) override {
    for (size_t i = 0; i < payloads.size(); ++i)
      row.parts[i].held = payloads[i];
    return true;
  }

private:
  const size_t dimensions_;
};

} // namespace

uint64_t bytes_of(std::string_view key, const leftover& what,
                  size_t dimensions) {
  return key.size() + vector_index::bytes_of_each(dimensions)
       + detail::payload_bytes(what);
}

memory::memory(cache_bounds most, std::shared_ptr<const text_encoder> encoder,
               std::shared_ptr<const image_encoder> images, vector_options how,
               std::function<int64_t()> date)
  : cache({{most}, encoder, std::move(images), {}, 0, how, std::move(date)},
          std::make_unique<memory_medium>(encoder->dimensions())) {}

} // namespace atelier::index
