// SPDX-License-Identifier: Apache-2.0
#include "strict_images.hpp"

#include <atelier/core/image/codec.hpp>
#include <atelier/core/image/geometry.hpp>
#include <atelier/runtime/door.hpp>

#include <boost/test/unit_test.hpp>

namespace atelier::test {

namespace {

/// Checks a file as a worker that prepares requests does.
core::result<void> look_at(const std::vector<uint8_t>& file,
                           const core::limits& within) {
  if (file.empty())
    return {};
  const auto head = image::read_header(file);
  if (!head)
    return head.why();
  auto pixels = image::decode(file, {UINT32_MAX, within.source_px});
  if (!pixels)
    return pixels.why();
  const auto whole =
    image::upright(image::opaque(std::move(*pixels)), head->orientation);
  if (auto scaled = image::resize(whole.view(), {16, 16}); !scaled)
    return scaled.why();
  return {};
}

} // namespace

strict_images::strict_images(const config::settings& within) : within_(within) {
  auto known = runtime::know_variants(within);
  BOOST_TEST_REQUIRE(static_cast<bool>(known));
  known_ = std::move(*known);
  for (const auto& v : known_.costs.variants) {
    variant_status x;
    x.name = v.name;
    x.model = v.model;
    x.steps = v.steps;
    x.sampler = core::to_string(v.sampler);
    x.width = x.height = 64;
    variants_.push_back(x);
  }
  const std::vector<uint8_t> grey(size_t{16} * 16 * 3, 128);
  for (const auto format : {core::image_format::png, core::image_format::jpeg,
                            core::image_format::webp})
    files_[std::string{core::to_string(format)}] =
      *image::encode({{16, 16}, 3, grey}, {format, 80});
}

std::variant<uint64_t, failure> strict_images::submit(const generation& wanted,
                                                      callbacks calls) {
  const auto id = ++last_;
  const auto read =
    runtime::to_request(wanted, within_, known_, core::request_id{id}, 1, {});
  if (!read)
    return runtime::to_failure(read.why());
  progress first;
  first.request = id;
  first.steps_done = 1;
  first.steps = 2;
  if (wanted.preview_every > 0)
    first.preview = {1, 8, 8, std::vector<uint8_t>(8 * 8 * 3, 128)};
  if (calls.progressed)
    calls.progressed(first);
  for (const auto* file : {&wanted.image, &wanted.mask})
    if (auto good = look_at(*file, within_.limits); !good) {
      calls.answered(runtime::to_failure(good.why()));
      return id;
    }
  generated_image p;
  p.request = id;
  p.bytes = files_.at(wanted.format);
  p.format = wanted.format;
  p.seed = wanted.seed.value_or(1);
  p.prompt = wanted.prompt;
  p.negative = wanted.negative;
  p.model = variants_.front().model;
  p.variant = variants_.front().name;
  p.sampler = wanted.sampler.value_or(variants_.front().sampler);
  p.width = p.height = 16;
  calls.answered(p);
  return id;
}

} // namespace atelier::test
