// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/row_work.hpp>

namespace atelier::planning {

namespace {

core::timespan in_proportion(core::timespan x, uint64_t from, uint64_t to) {
  if (from == 0 || from == to)
    return x;
  return core::from_seconds(core::to_seconds(x) * static_cast<double>(to)
                            / static_cast<double>(from));
}

double places_at(const variant_profile& v, float guidance) {
  return guidance > 1 && !v.embeds_guidance ? 2 : 1;
}

} // namespace

row_work work_of(const variant_profile& v, const core::recipe& how) {
  return {how.px, rows_at(v, how.guidance), how.from_image};
}

double rows_at(const variant_profile& v, float guidance) {
  return places_at(v, guidance) / places_at(v, v.guidance);
}

core::timespan decode_time(const variant_profile& v, core::extent px) {
  return in_proportion(v.decode, v.native_px.pixels(), px.pixels());
}

core::timespan encode_time(const variant_profile& v, core::extent px) {
  return in_proportion(v.encode, v.native_px.pixels(), px.pixels());
}

core::timespan at_native_size(const variant_profile& v, core::extent px,
                              core::timespan took) {
  return in_proportion(took, px.pixels(), v.native_px.pixels());
}

core::timespan time_beside_steps(const variant_profile& v, const row_work& of) {
  return v.text + decode_time(v, of.px)
       + (of.from_image ? encode_time(v, of.px) : core::timespan{0});
}

} // namespace atelier::planning
