// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/detail/profile_sections.hpp>
#include <atelier/planning/json_reader.hpp>
#include <atelier/planning/profile_file.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <set>

namespace atelier::planning {

namespace {

using detail::day_ms;
using detail::json;
using detail::json_reader;
using detail::ms_of;

constexpr std::string_view format_name = "atelier.profile";
constexpr uint64_t most_side = 65'536;
constexpr uint64_t most_batch = 4'096;
constexpr size_t most_variants = 4'096;
constexpr uint64_t most_memory = 1ull << 50;

constexpr std::string_view spreads_steps = "spread";
constexpr std::string_view cuts_steps = "cut";

json loads_json(const load_times& x) {
  return {{"p50", ms_of(x.p50)}, {"p90", ms_of(x.p90)}, {"p99", ms_of(x.p99)}};
}

// A time, or how times are distributed.
void read_load(json_reader& r, const json& x, const std::string& at,
               variant_profile& v) {
  const auto* load = r.find(x, at, "load_ms", false);
  if (load == nullptr || !load->is_object())
    return r.span(x, at, "load_ms", v.load);
  const auto here = at + ".load_ms";
  const auto faults = r.faults();
  load_times times;
  r.expect_keys(*load, here, {"p50", "p90", "p99"});
  r.span(*load, here, "p50", times.p50, true);
  r.span(*load, here, "p90", times.p90, true);
  r.span(*load, here, "p99", times.p99, true);
  if (r.faults() == faults
      && !(times.p50 <= times.p90 && times.p90 <= times.p99))
    r.complain(here, "falls from p50 over p90 to p99");
  v.loads = times;
  v.load = mean_of(times);
}

json variant_json(const variant_profile& v) {
  auto steps = json::array();
  for (const auto& x : v.step) {
    steps.push_back(
      {{"batch", x.batch}, {"pixels", x.px}, {"ms", ms_of(x.took)}});
    if (x.samples != 0)
      steps.back()["samples"] = x.samples;
  }
  json out{
    {"name", v.name},
    {"native", {{"width", v.native_px.width}, {"height", v.native_px.height}}},
    {"latent", {{"channels", v.latent_channels}, {"factor", v.latent_factor}}},
    {"sampler", core::to_string(v.sampler)},
    {"karras", v.karras},
    {"guidance", v.guidance},
    {"text_ms", ms_of(v.text)},
    {"decode_ms", ms_of(v.decode)},
    {"load_ms", v.loads ? loads_json(*v.loads) : ms_of(v.load)},
    {"memory_bytes", v.memory_bytes},
    {"step", std::move(steps)}};
  if (v.encode.count() != 0)
    out["encode_ms"] = ms_of(v.encode);
  if (v.rated)
    out["quality"] = v.quality;
  if (v.quality_images != 0)
    out["quality_pictures"] = v.quality_images;
  if (v.quality_deviation != 0)
    out["quality_deviation"] = v.quality_deviation;
  if (v.busy_watts != 0)
    out["busy_watts"] = v.busy_watts;
  if (v.embeds_guidance)
    out["embeds_guidance"] = true;
  if (v.sampler == core::sampler::lcm && v.lcm_steps == core::share_steps::cut)
    out["lcm_steps"] = cuts_steps;
  return out;
}

void read_steps(json_reader& r, const json& x, const std::string& at,
                variant_profile& v) {
  const auto* steps = r.find(x, at, "step", true);
  if (steps == nullptr)
    return;
  if (!steps->is_array() || steps->empty()) {
    r.complain(at + ".step", "is not a list of at least one point");
    return;
  }
  std::set<std::pair<uint32_t, uint64_t>> seen;
  for (size_t i = 0; i < steps->size(); ++i) {
    const auto& point = (*steps)[i];
    const auto here = fmt::format("{}.step[{}]", at, i);
    if (!point.is_object()) {
      r.complain(here, "is not an object");
      continue;
    }
    r.expect_keys(point, here, {"batch", "pixels", "ms", "samples"});
    step_cost cost;
    double ms = 0;
    const auto faults = r.faults();
    r.whole(point, here, "batch", 1, most_batch, cost.batch);
    r.whole(point, here, "pixels", 1, most_side * most_side, cost.px);
    r.real(point, here, "ms", 1e-6, day_ms, ms);
    cost.took = detail::span_of_ms(ms);
    r.whole(point, here, "samples", 1, detail::most_samples, cost.samples,
            false);
    if (r.faults() == faults && !seen.emplace(cost.batch, cost.px).second)
      r.complain(here, "measures the same batch and pixels as one before");
    v.step.push_back(cost);
  }
}

void read_flag(json_reader& r, const json& x, const std::string& at,
               const char* key, bool& into) {
  const auto* flag = r.find(x, at, key, false);
  if (flag == nullptr)
    return;
  if (flag->is_boolean())
    into = flag->get<bool>();
  else
    r.complain(fmt::format("{}.{}", at, key), "is neither true nor false");
}

void read_lcm_steps(json_reader& r, const json& x, const std::string& at,
                    core::share_steps& into) {
  const auto* how = r.find(x, at, "lcm_steps", false);
  if (how == nullptr)
    return;
  if (*how == cuts_steps)
    into = core::share_steps::cut;
  else if (*how == spreads_steps)
    into = core::share_steps::spread;
  else
    r.complain(at + ".lcm_steps", fmt::format("{} is neither \"{}\" nor \"{}\"",
                                              json_reader::shown(*how),
                                              spreads_steps, cuts_steps));
}

void read_variant(json_reader& r, const json& x, const std::string& at,
                  profile& into) {
  if (!x.is_object())
    return r.complain(at, "is not an object");
  r.expect_keys(x, at,
                {"name", "native", "latent", "sampler", "karras", "guidance",
                 "quality", "quality_pictures", "quality_deviation", "text_ms",
                 "decode_ms", "encode_ms", "load_ms", "memory_bytes",
                 "busy_watts", "embeds_guidance", "lcm_steps", "step"});
  variant_profile v;
  if (const auto* name = r.find(x, at, "name", true)) {
    auto parsed = name->is_string()
                  ? parse_variant(name->get_ref<const std::string&>())
                  : core::result<variant_profile>{
                    core::fail(core::ec::bad_payload, "{} is not a text",
                               json_reader::shown(*name))};
    if (!parsed)
      r.complain(at + ".name", parsed.why().text);
    else
      v = std::move(*parsed);
    for (const auto& other : into.variants)
      if (other.name == v.name)
        r.complain(at + ".name", fmt::format("'{}' occurs twice", v.name));
  }
  if (const auto* native = r.find(x, at, "native", false)) {
    if (native->is_object()) {
      r.whole(*native, at + ".native", "width", 8, most_side,
              v.native_px.width);
      r.whole(*native, at + ".native", "height", 8, most_side,
              v.native_px.height);
    } else {
      r.complain(at + ".native", "is not an object");
    }
  }
  if (const auto* latent = r.find(x, at, "latent", false)) {
    if (latent->is_object()) {
      r.whole(*latent, at + ".latent", "channels", 1, 1024, v.latent_channels);
      r.whole(*latent, at + ".latent", "factor", 1, 256, v.latent_factor);
    } else {
      r.complain(at + ".latent", "is not an object");
    }
  }
  if (const auto* with = r.find(x, at, "sampler", false)) {
    const auto parsed =
      with->is_string()
        ? core::parse_sampler(with->get_ref<const std::string&>())
        : std::nullopt;
    if (parsed)
      v.sampler = *parsed;
    else
      r.complain(at + ".sampler",
                 fmt::format("{} is not a sampler", json_reader::shown(*with)));
  }
  read_flag(r, x, at, "karras", v.karras);
  read_flag(r, x, at, "embeds_guidance", v.embeds_guidance);
  read_lcm_steps(r, x, at, v.lcm_steps);
  r.real(x, at, "guidance", 0, 1000, v.guidance, false);
  v.rated = x.contains("quality");
  r.real(x, at, "quality", -1e6, 1e6, v.quality, false);
  r.images(x, at, "quality_pictures", "quality_deviation", v.quality,
           v.quality_images, v.quality_deviation);
  r.span(x, at, "text_ms", v.text);
  r.span(x, at, "decode_ms", v.decode);
  r.span(x, at, "encode_ms", v.encode);
  read_load(r, x, at, v);
  r.whole(x, at, "memory_bytes", 0, most_memory, v.memory_bytes, false);
  r.real(x, at, "busy_watts", 0, 1e6, v.busy_watts, false);
  read_steps(r, x, at, v);
  into.variants.push_back(std::move(v));
}

void read_instruction_set(json_reader& r, const json& document, profile& into) {
  constexpr const char* key = "instruction_set";
  const auto* name = r.find(document, "profile", key, false);
  if (name == nullptr)
    return;
  if (name->is_string())
    into.measured_with =
      core::parse_instruction_set(name->get_ref<const std::string&>());
  if (!into.measured_with)
    r.complain(
      fmt::format("profile.{}", key),
      fmt::format("{} is not an instruction set", json_reader::shown(*name)));
}

} // namespace

std::string to_json(const profile& x) {
  auto variants = json::array();
  for (const auto& v : x.variants)
    variants.push_back(variant_json(v));
  json all{{"format", format_name},
           {"version", detail::has_sections(x) ? 2 : 1}};
  if (x.measured_with)
    all["instruction_set"] = core::to_string(*x.measured_with);
  all["prepare_ms"] = ms_of(x.prepare);
  all["finish_ms"] = ms_of(x.finish);
  all["source_ms_per_megapixel"] = ms_of(x.source);
  all["variants"] = std::move(variants);
  detail::write_sections(x, all);
  return all.dump(2) + "\n";
}

core::result<profile> parse_profile(std::string_view text,
                                    std::string_view where) {
  const auto parsed = detail::parse_document(text, where, most_profile_bytes);
  if (!parsed)
    return parsed.why();
  const json& document = *parsed;
  json_reader r{where};
  const auto version = document.value("version", json{});
  std::set<std::string_view> known{
    "format",    "version",  "instruction_set",        "prepare_ms",
    "finish_ms", "variants", "source_ms_per_megapixel"};
  if (version == 2)
    known.insert(detail::section_keys.begin(), detail::section_keys.end());
  r.expect_keys(document, "profile", known);
  if (const auto* x = r.find(document, "profile", "format", true))
    if (*x != format_name)
      r.complain(
        "profile.format",
        fmt::format("{} is not \"{}\"", json_reader::shown(*x), format_name));
  if (const auto* x = r.find(document, "profile", "version", true))
    if (*x != 1 && *x != 2)
      r.complain("profile.version",
                 fmt::format("{} is not 1 or 2", json_reader::shown(*x)));
  profile out;
  read_instruction_set(r, document, out);
  r.span(document, "profile", "prepare_ms", out.prepare);
  r.span(document, "profile", "finish_ms", out.finish);
  r.span(document, "profile", "source_ms_per_megapixel", out.source);
  if (const auto* variants = r.find(document, "profile", "variants", true)) {
    if (!variants->is_array() || variants->empty()
        || variants->size() > most_variants)
      r.complain("profile.variants",
                 fmt::format("is not a list of 1..{}", most_variants));
    else
      for (size_t i = 0; i < variants->size(); ++i)
        read_variant(r, (*variants)[i], fmt::format("variants[{}]", i), out);
  }
  if (version == 2)
    detail::read_sections(r, document, out);
  if (r.faults() != 0)
    return r.why();
  return out;
}

} // namespace atelier::planning
