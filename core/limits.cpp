// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/limits.hpp>
#include <atelier/core/tenant.hpp>
#include <atelier/core/utf8.hpp>

namespace atelier::core {

namespace {

result<void> validate_text(std::string_view field, std::string_view text,
                           const limits& within) {
  if (text.size() > within.prompt_bytes)
    return fail(ec::invalid_argument, "{} has {} bytes, outside 0..{}", field,
                text.size(), within.prompt_bytes);
  if (const auto at = find_utf8_fault(text))
    return fail(ec::invalid_argument, "{} is not UTF-8 at byte {} of {}", field,
                *at, text.size());
  return {};
}

result<void> validate_size(extent px, const limits& within) {
  // 0x0 requests the model's own size.
  if (px == extent{})
    return {};
  for (uint32_t side : {px.width, px.height}) {
    if (side == 0 || side > within.side_px)
      return fail(ec::invalid_argument,
                  "size {}x{} has a side outside {}..{} pixels", px.width,
                  px.height, grid_px, within.side_px);
    if (side % grid_px != 0)
      return fail(ec::invalid_argument,
                  "size {}x{} has a side that is not a multiple of {} pixels",
                  px.width, px.height, grid_px);
  }
  if (px.pixels() > within.picture_px)
    return fail(ec::invalid_argument, "size {}x{} has {} pixels, outside 1..{}",
                px.width, px.height, px.pixels(), within.picture_px);
  return {};
}

// Refuses NaN too, because it compares false with every number.
template <number T>
result<void> validate_number(const parameter& x, T value, T least, T most) {
  if (!(x.open ? value > 0 : value >= least) || !(value <= most)) {
    if (x.open)
      return fail(ec::invalid_argument, "{} {} is not above 0 and at most {}",
                  x.name, value, most);
    return fail(ec::invalid_argument, "{} {} outside {}..{}", x.name, value,
                least, most);
  }
  return {};
}

result<void> validate_parameters(const request& wanted, const limits& within) {
  result<void> first;
  each_parameter([&](const parameter& x, auto at) {
    using type = typename decltype(at)::type;
    if constexpr (number<type>) {
      const auto* const asked = asked_in(wanted, at);
      if (asked != nullptr && first)
        first = validate_number(x, *asked, static_cast<type>(x.least),
                                static_cast<type>(most_of(x, within)));
    }
  });
  return first;
}

result<void> validate_file(std::string_view field, uint64_t bytes, extent px,
                           const limits& within) {
  if (bytes == 0 || bytes > within.source_bytes)
    return fail(ec::invalid_argument, "{} has {} bytes, outside 1..{}", field,
                bytes, within.source_bytes);
  if (px.pixels() == 0 || px.pixels() > within.source_px)
    return fail(ec::invalid_argument, "{} {}x{} has {} pixels, outside 1..{}",
                field, px.width, px.height, px.pixels(), within.source_px);
  return {};
}

result<void> validate_source(const request& wanted, const limits& within) {
  const auto* source = wanted.source.get();
  if (source == nullptr) {
    if (wanted.fixed.strength)
      return fail(ec::invalid_argument, "strength {} needs an image",
                  *wanted.fixed.strength);
    if (wanted.strength_rule != strength_rule::diffusers)
      return fail(ec::invalid_argument, "strength_rule {} needs an image",
                  to_string(wanted.strength_rule));
    if (wanted.kind == request_kind::edit)
      return fail(ec::invalid_argument, "mask needs an image");
    return {};
  }
  if (auto ok =
        validate_file("image", source->image.size(), source->image_px, within);
      !ok)
    return ok;
  if (source->mask.empty())
    return {};
  return validate_file("mask", source->mask.size(), source->mask_px, within);
}

result<void> validate_output(const encoding& output) {
  if (output.quality == 0 || output.quality > 100)
    return fail(ec::invalid_argument, "quality {} outside 1..100",
                output.quality);
  return {};
}

result<void> validate_share(uint32_t share) {
  if (share == 0 || share > most_share)
    return fail(ec::invalid_argument, "share {} outside 1..{}", share,
                most_share);
  return {};
}

result<void> validate_trace(std::string_view trace) {
  if (trace.size() > most_trace_bytes)
    return fail(ec::invalid_argument, "trace has {} bytes, outside 0..{}",
                trace.size(), most_trace_bytes);
  for (size_t i = 0; i < trace.size(); ++i)
    if (trace[i] < ' ' || trace[i] > '~')
      return fail(ec::invalid_argument,
                  "trace has the byte 0x{:02x} at {}, outside 0x20..0x7e",
                  static_cast<uint8_t>(trace[i]), i);
  return {};
}

result<void> validate_times(const request& wanted) {
  if (wanted.deadline > wanted.arrived)
    return {};
  return fail(ec::invalid_argument,
              "deadline {} ms after arrival is not later than it",
              to_ms(wanted.deadline - wanted.arrived));
}

} // namespace

result<void> validate(const request& wanted, const limits& within) {
  if (auto ok = validate_text("prompt", wanted.text.positive, within); !ok)
    return ok;
  if (auto ok = validate_text("negative", wanted.text.negative, within); !ok)
    return ok;
  if (auto ok = validate_size(wanted.px, within); !ok)
    return ok;
  if (auto ok = validate_parameters(wanted, within); !ok)
    return ok;
  if (auto ok = validate_source(wanted, within); !ok)
    return ok;
  if (auto ok = validate_output(wanted.output); !ok)
    return ok;
  if (auto ok = validate_trace(wanted.trace); !ok)
    return ok;
  if (auto ok = validate_share(wanted.share); !ok)
    return ok;
  return validate_times(wanted);
}

} // namespace atelier::core
