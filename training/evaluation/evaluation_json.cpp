// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/evaluation/evaluation_report.hpp>
#include <atelier/training/family.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace atelier::gpu {

namespace {

using json = nlohmann::ordered_json;

json of(const image_quality& x) {
  json out{{"pictures", x.images},
           {"objects_right", x.objects},
           {"fully_right", x.fully}};
  if (x.score)
    out["score"] = *x.score;
  if (x.deviation > 0)
    out["deviation"] = x.deviation;
  return out;
}

json of(const evaluated_run& x) {
  json out{{"model", x.variant.model},
           {"steps", x.variant.steps},
           {"guidance", x.guidance},
           {"sampler", core::to_string(x.sampler)},
           {"all", of(x.all)}};
  for (size_t i = 0; i < x.by_objects.size(); ++i)
    out["by_objects"][std::to_string(i + 1)] = of(x.by_objects[i]);
  if (x.distance)
    out["frechet_distance"] = *x.distance;
  if (x.score_correlation)
    out["score_correlation"] = *x.score_correlation;
  out["ms"] = {{"text", x.took.text},
               {"denoise", x.took.denoise},
               {"decode", x.took.decode},
               {"total", x.took.total()},
               {"load", x.load}};
  out["weight_bytes"] = x.weight_bytes;
  return out;
}

json of(const evaluated_start& x) {
  json out{{"from", to_string(x.from)}, {"skipped", x.skipped}};
  out["changes"] = x.changes ? json(*x.changes) : json(nullptr);
  out["similarity"] = x.similarity;
  out["quality"] = of(x.quality);
  return out;
}

std::string name_of(const evaluated_variant& x) {
  return fmt::format("{}@{}", x.model, x.steps);
}

json of(const evaluated_cascade& x) {
  json out{{"light", name_of(x.light)},
           {"heavy", name_of(x.heavy)},
           {"judge", x.judge},
           {"judging_ms", x.judging},
           {"correlation", x.correlation},
           {"points", json::array()}};
  for (const auto& p : x.points) {
    out["points"].push_back({{"threshold", p.threshold},
                             {"deferred", p.deferred},
                             {"objects_right", p.objects}});
    if (p.distance)
      out["points"].back()["frechet_distance"] = *p.distance;
    if (p.distance_error)
      out["points"].back()["frechet_distance_error"] = *p.distance_error;
  }
  return out;
}

core::timespan ms(double x) {
  return core::timespan{std::llround(x * 1e6)};
}

} // namespace

std::string_view to_string(start_kind x) {
  switch (x) {
    case start_kind::latent:
      return "latent";
    case start_kind::image:
      return "image";
  }
  return "";
}

std::string to_json(const evaluation& x) {
  json out{{"format", "atelier.evaluation"},
           {"version", 1},
           {"captions", x.plan.captions},
           {"batch", x.plan.batch},
           {"seed", x.plan.seed},
           {"device", x.plan.device}};
  out["runs"] = json::array();
  for (const auto& run : x.runs)
    out["runs"].push_back(of(run));
  for (const auto& cascade : x.cascades)
    out["cascades"].push_back(of(cascade));
  if (!x.starts.empty()) {
    out["start_steps"] = x.start_steps;
    for (const auto& start : x.starts)
      out["starts"].push_back(of(start));
    for (const auto& trend : x.trends)
      out["trends"].push_back({{"from", to_string(trend.from)},
                               {"skipped", trend.skipped},
                               {"correlation", trend.correlation}});
  }
  return out.dump(2) + "\n";
}

planning::profile measured_profile(const evaluation& x) {
  constexpr uint32_t latent_factor = family_side / family_latent_side;
  planning::profile out;
  for (const auto& run : x.runs) {
    planning::variant_profile v;
    v.model = run.variant.model;
    v.steps = run.variant.steps;
    v.name = name_of(run.variant);
    if (std::ranges::find(out.variants, v.name,
                          &planning::variant_profile::name)
        != out.variants.end())
      continue;
    v.native_px = {family_side, family_side};
    v.latent_factor = latent_factor;
    v.sampler = run.sampler;
    v.guidance = run.guidance;
    v.quality = run.all.objects;
    v.quality_images = run.all.images;
    v.quality_deviation = run.all.deviation;
    v.load = ms(run.load);
    v.memory_bytes = run.weight_bytes;
    v.text = ms(run.took.text);
    v.decode = ms(run.took.decode);
    const auto batch = std::min<uint32_t>(x.plan.batch, run.all.images);
    v.step.push_back({batch, uint64_t{family_side} * family_side,
                      ms(run.took.denoise * batch / run.variant.steps),
                      run.all.images / batch * run.variant.steps});
    out.variants.push_back(std::move(v));
  }
  for (const auto& of : x.cascades) {
    planning::cascade_profile c;
    c.light = *planning::find_variant(out, name_of(of.light));
    c.heavy = *planning::find_variant(out, name_of(of.heavy));
    c.judge = of.judge;
    c.judging = ms(of.judging);
    for (const auto& p : of.points)
      c.deferred.emplace_back(p.threshold, p.deferred);
    // Points are added by rising share of images from the light variant, each
    // share once.
    for (auto p = of.points.rbegin(); p != of.points.rend(); ++p)
      if (p->distance
          && (c.fid.empty() || c.fid.back().first < 1 - p->deferred)) {
        c.fid.emplace_back(1 - p->deferred, *p->distance);
        if (p->distance_error)
          c.fid_error.push_back(*p->distance_error);
      }
    out.cascades.push_back(std::move(c));
  }
  return out;
}

} // namespace atelier::gpu
