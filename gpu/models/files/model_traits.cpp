// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/model_traits.hpp>
#include <atelier/gpu/models/files/network_fields.hpp>

#include <nlohmann/json.hpp>

namespace atelier::gpu {

namespace {

constexpr auto format_name = "atelier.model";
constexpr double largest_guidance = 100;

} // namespace

core::result<model_traits> parse_traits(std::string_view text,
                                        std::string_view where) {
  detail::network_fields fields{text, std::string{where}};
  fields.expect("format", format_name);
  fields.expect("version", 1);
  model_traits out;
  out.native_only = fields.flag("native_only", false);
  if (fields.text("captions", "free", {"free", "scenes"}) == "scenes")
    out.captions = caption_kind::scenes;
  if (const auto most =
        fields.number_or_null("most_guidance", 0, largest_guidance))
    out.most_guidance = static_cast<float>(*most);
  if (auto good = fields.finish(); !good)
    return good.why();
  return out;
}

std::string to_text(const model_traits& x) {
  nlohmann::ordered_json out{
    {"format", format_name}, {"version", 1}, {"native_only", x.native_only}};
  out["captions"] = x.captions == caption_kind::scenes ? "scenes" : "free";
  if (x.most_guidance)
    out["most_guidance"] = *x.most_guidance;
  return out.dump(2) + "\n";
}

} // namespace atelier::gpu
