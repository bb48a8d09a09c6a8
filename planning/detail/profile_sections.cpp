// SPDX-License-Identifier: Apache-2.0
// Reads and writes the optional sections of a profile file. Long, because each
// section's reader and writer are read together.
#include <atelier/planning/detail/evidence_section.hpp>
#include <atelier/planning/detail/profile_sections.hpp>
#include <atelier/planning/profile_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace atelier::planning::detail {

namespace {

constexpr double most_quality = 1e6;
constexpr double most_watts = 1e6;
constexpr double most_rate = 1e9;
constexpr uint64_t most_steps = 10'000;

constexpr std::array<std::pair<ladder_kind, std::string_view>, 2> ladder_names{
  {{ladder_kind::cached_latents, "cached_latents"},
   {ladder_kind::smaller_models, "smaller_models"}}};

const std::string& name_of(const profile& x, core::variant_id id) {
  return x.variants[id.value].name;
}

json pairs_json(const std::vector<std::pair<double, double>>& pairs) {
  auto out = json::array();
  for (const auto& [x, y] : pairs)
    out.push_back(json::array({x, y}));
  return out;
}

json table_json(const skip_table& table) {
  auto out = json::array();
  for (const skip_threshold& t : table)
    out.push_back({{"skip", t.skip}, {"similarity", t.similarity}});
  return out;
}

// Reads the items of a list that may be absent.
template <class Read>
void each(json_reader& r, const json& x, const std::string& at, const char* key,
          Read read) {
  const auto* list = r.find(x, at, key, false);
  if (list == nullptr)
    return;
  const auto here = at.empty() ? std::string{key} : at + "." + key;
  if (!list->is_array())
    return r.complain(here, "is not a list");
  for (size_t i = 0; i < list->size(); ++i)
    read((*list)[i], fmt::format("{}[{}]", here, i));
}

bool is_object(json_reader& r, const json& x, const std::string& at) {
  if (x.is_object())
    return true;
  r.complain(at, "is not an object");
  return false;
}

core::variant_id named(json_reader& r, const json& x, const std::string& at,
                       const profile& known) {
  if (x.is_string())
    for (size_t i = 0; i < known.variants.size(); ++i)
      if (known.variants[i].name == x.get_ref<const std::string&>())
        return core::variant_id{static_cast<uint32_t>(i)};
  r.complain(at, fmt::format("{} is not one of the file's variants",
                             json_reader::shown(x)));
  return {};
}

core::variant_id variant_at(json_reader& r, const json& x,
                            const std::string& at, const char* key,
                            const profile& known) {
  const auto* v = r.find(x, at, key, true);
  return v != nullptr ? named(r, *v, at + "." + key, known)
                      : core::variant_id{};
}

std::optional<double> number(json_reader& r, const json& x,
                             const std::string& at, double least, double most) {
  const double value = x.is_number() ? x.get<double>() : std::nan("");
  if (value >= least && value <= most)
    return value;
  r.complain(at, fmt::format("{} is not a number in {}..{}",
                             json_reader::shown(x), least, most));
  return std::nullopt;
}

void read_numbers(json_reader& r, const json& x, const std::string& at,
                  const char* key, double least, double most,
                  std::vector<double>& into) {
  each(r, x, at, key, [&](const json& item, const std::string& here) {
    if (const auto value = number(r, item, here, least, most))
      into.push_back(*value);
  });
}

// Reads pairs (x, y) with rising x in 0..1.
void read_pairs(json_reader& r, const json& x, const std::string& at,
                const char* key, double most_y,
                std::vector<std::pair<double, double>>& into) {
  each(r, x, at, key, [&](const json& item, const std::string& here) {
    if (!item.is_array() || item.size() != 2)
      return r.complain(here, "is not a list of two numbers");
    const auto first = number(r, item[0], here + "[0]", 0, 1);
    const auto second = number(r, item[1], here + "[1]", 0, most_y);
    if (!first || !second)
      return;
    if (!into.empty() && *first <= into.back().first)
      r.complain(here, "is not above the one before");
    into.emplace_back(*first, *second);
  });
}

void read_table(json_reader& r, const json& x, const std::string& at,
                const char* key, skip_table& into) {
  each(r, x, at, key, [&](const json& item, const std::string& here) {
    if (!is_object(r, item, here))
      return;
    r.expect_keys(item, here, {"skip", "similarity"});
    skip_threshold t;
    r.whole(item, here, "skip", 1, most_steps, t.skip);
    r.real(item, here, "similarity", -1, 1, t.similarity);
    if (!into.empty()
        && (t.skip <= into.back().skip
            || t.similarity < into.back().similarity))
      r.complain(here, "skips no more, or at a lower similarity, than the one "
                       "before");
    into.push_back(t);
  });
}

void read_ladder(json_reader& r, const json& x, const std::string& at,
                 profile& into) {
  if (!is_object(r, x, at))
    return;
  r.expect_keys(x, at, {"kind", "levels", "class_shares", "accuracy"});
  ladder_profile ladder;
  if (const auto* kind = r.find(x, at, "kind", true)) {
    const auto* found =
      std::find_if(ladder_names.begin(), ladder_names.end(),
                   [&](const auto& n) { return *kind == n.second; });
    if (found == ladder_names.end())
      r.complain(at + ".kind",
                 fmt::format("{} is not one of \"{}\", \"{}\"",
                             json_reader::shown(*kind), ladder_names[0].second,
                             ladder_names[1].second));
    else
      ladder.kind = found->first;
  }
  for (const ladder_profile& other : into.ladders)
    if (other.kind == ladder.kind)
      r.complain(at + ".kind", "occurs twice");
  each(r, x, at, "levels", [&](const json& item, const std::string& here) {
    if (!is_object(r, item, here))
      return;
    r.expect_keys(
      item, here,
      {"variant", "skip", "quality", "pictures", "deviation", "class_quality"});
    level_profile level;
    level.variant = variant_at(r, item, here, "variant", into);
    r.whole(item, here, "skip", 0, most_steps, level.skip, false);
    r.real(item, here, "quality", -most_quality, most_quality, level.quality);
    r.images(item, here, "pictures", "deviation", level.quality, level.images,
             level.deviation);
    read_numbers(r, item, here, "class_quality", -most_quality, most_quality,
                 level.class_quality);
    ladder.levels.push_back(std::move(level));
  });
  if (ladder.levels.empty())
    r.complain(at + ".levels", "has no level");
  for (size_t i = 0; i < ladder.levels.size(); ++i)
    if (const size_t n = ladder.levels[i].class_quality.size();
        n != 0 && n != ladder.levels.size())
      r.complain(
        fmt::format("{}.levels[{}].class_quality", at, i),
        fmt::format("has {} values for {} classes", n, ladder.levels.size()));
  read_numbers(r, x, at, "class_shares", 0, 1, ladder.class_shares);
  if (const size_t n = ladder.class_shares.size();
      n != 0 && n != ladder.levels.size())
    r.complain(at + ".class_shares", fmt::format("has {} values for {} classes",
                                                 n, ladder.levels.size()));
  if (r.find(x, at, "accuracy", false) != nullptr)
    r.real(x, at, "accuracy", 0, 1, ladder.accuracy.emplace());
  into.ladders.push_back(std::move(ladder));
}

fixed_cascade read_fixed(json_reader& r, const json& x, const std::string& at) {
  constexpr uint64_t most = 1u << 20;
  r.expect_keys(x, at,
                {"threshold", "light", "heavy", "light_batch", "heavy_batch"});
  fixed_cascade out;
  r.real(x, at, "threshold", 0, 1, out.threshold);
  r.whole(x, at, "light", 1, most, out.light);
  r.whole(x, at, "heavy", 0, most, out.heavy);
  r.whole(x, at, "light_batch", 1, most, out.light_batch);
  r.whole(x, at, "heavy_batch", 1, most, out.heavy_batch);
  return out;
}

void read_cascade(json_reader& r, const json& x, const std::string& at,
                  profile& into) {
  if (!is_object(r, x, at))
    return;
  r.expect_keys(x, at,
                {"light", "heavy", "judge", "judging_ms", "deadline_ms",
                 "deferred", "fid", "fid_error", "peak_rate", "fixed"});
  cascade_profile cascade;
  cascade.light = variant_at(r, x, at, "light", into);
  cascade.heavy = variant_at(r, x, at, "heavy", into);
  if (const auto* judge = r.find(x, at, "judge", true)) {
    if (judge->is_string())
      cascade.judge = judge->get<std::string>();
    else
      r.complain(at + ".judge",
                 fmt::format("{} is not a text", json_reader::shown(*judge)));
  }
  r.span(x, at, "judging_ms", cascade.judging);
  r.span(x, at, "deadline_ms", cascade.deadline);
  read_pairs(r, x, at, "deferred", 1, cascade.deferred);
  read_pairs(r, x, at, "fid", most_quality, cascade.fid);
  read_numbers(r, x, at, "fid_error", 0, most_quality, cascade.fid_error);
  if (const size_t n = cascade.fid_error.size();
      n != 0 && n != cascade.fid.size())
    r.complain(at + ".fid_error", fmt::format("has {} values for {} points", n,
                                              cascade.fid.size()));
  r.real(x, at, "peak_rate", 0, most_rate, cascade.peak_rate, false);
  if (const auto* fixed = r.find(x, at, "fixed", false);
      fixed != nullptr && is_object(r, *fixed, at + ".fixed"))
    cascade.fixed = read_fixed(r, *fixed, at + ".fixed");
  for (size_t i = 1; i < cascade.deferred.size(); ++i)
    if (cascade.deferred[i].second < cascade.deferred[i - 1].second)
      r.complain(fmt::format("{}.deferred[{}]", at, i),
                 "defers fewer than the threshold before");
  into.cascades.push_back(std::move(cascade));
}

void read_reuse(json_reader& r, const json& x, profile& into) {
  const std::string at = "reuse";
  if (!is_object(r, x, at))
    return;
  r.expect_keys(x, at,
                {"full", "small", "steps", "latents", "images", "images_by",
                 "answers_from", "retrieval_ms", "near", "predictor",
                 "measured"});
  reuse_profile reuse;
  reuse.full = variant_at(r, x, at, "full", into);
  each(r, x, at, "small", [&](const json& item, const std::string& here) {
    reuse.small.push_back(named(r, item, here, into));
  });
  r.whole(x, at, "steps", 1, most_steps, reuse.steps, false);
  read_table(r, x, at, "latents", reuse.latents);
  read_table(r, x, at, "images", reuse.images);
  if (const auto* by = r.find(x, at, "images_by", false)) {
    if (*by == "prompts")
      reuse.images_by = compared::prompts;
    else if (*by != "pictures")
      r.complain(at + ".images_by",
                 fmt::format("{} is neither \"pictures\" nor \"prompts\"",
                             json_reader::shown(*by)));
  }
  if (r.find(x, at, "answers_from", false) != nullptr)
    r.real(x, at, "answers_from", 0, 1, reuse.answers_from.emplace());
  r.span(x, at, "retrieval_ms", reuse.retrieval);
  if (const auto* near = r.find(x, at, "near", false);
      near != nullptr && is_object(r, *near, at + ".near")) {
    auto& n = reuse.near.emplace();
    r.expect_keys(*near, at + ".near", {"mean", "spread", "found"});
    r.real(*near, at + ".near", "mean", 0, 1, n.mean);
    r.real(*near, at + ".near", "spread", 0, 1, n.spread);
    r.real(*near, at + ".near", "found", 0, 1, n.found, false);
  }
  if (const auto* asked = r.find(x, at, "predictor", false);
      asked != nullptr && is_object(r, *asked, at + ".predictor")) {
    auto& p = reuse.predictor.emplace();
    r.expect_keys(*asked, at + ".predictor", {"recall", "false_alarms"});
    r.real(*asked, at + ".predictor", "recall", 0, 1, p.recall);
    r.real(*asked, at + ".predictor", "false_alarms", 0, 1, p.false_alarms);
  }
  if (const auto* measured = r.find(x, at, "measured", false))
    reuse.measured = read_evidence(r, *measured, at + ".measured");
  into.reuse = std::move(reuse);
}

void read_masked(json_reader& r, const json& x, const std::string& at,
                 profile& into) {
  if (!is_object(r, x, at))
    return;
  r.expect_keys(x, at,
                {"variant", "blocks", "tokens", "width", "bytes_per_value",
                 "keys_values", "compute_slope", "compute_base", "load_slope",
                 "load_base", "published_plan"});
  constexpr uint64_t most = 1u << 24;
  masked_profile m;
  m.variant = variant_at(r, x, at, "variant", into);
  r.whole(x, at, "blocks", 1, most, m.blocks);
  r.whole(x, at, "tokens", 1, most, m.tokens);
  r.whole(x, at, "width", 1, most, m.width);
  r.whole(x, at, "bytes_per_value", 1, 16, m.bytes_per_value, false);
  const auto truth = [&](const char* key, bool& of) {
    const auto* found = r.find(x, at, key, false);
    if (found == nullptr)
      return;
    if (found->is_boolean())
      of = found->get<bool>();
    else
      r.complain(fmt::format("{}.{}", at, key), "is neither true nor false");
  };
  truth("keys_values", m.keys_values);
  truth("published_plan", m.published_plan);
  r.real(x, at, "compute_slope", 0, 1, m.compute_slope);
  r.real(x, at, "compute_base", -1, 1, m.compute_base, false);
  r.real(x, at, "load_slope", 0, 1, m.load_slope);
  r.real(x, at, "load_base", -1, 1, m.load_base, false);
  into.masked.push_back(m);
}

} // namespace

namespace {

constexpr size_t most_stages = 256;

// The stages whose times have fields of their own.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3>
  measured_elsewhere{{{"prepare", "prepare_ms"},
                      {"denoise", "variants[].step"},
                      {"finish", "finish_ms"}}};

void read_stages(json_reader& r, const json& x, profile& into) {
  const std::string top = "stages";
  if (!is_object(r, x, top))
    return;
  if (x.size() > most_stages)
    return r.complain(top, fmt::format("has more than {} stages", most_stages));
  for (const auto& [name, cost] : x.items()) {
    const auto at = fmt::format("{}.{}", top, name);
    const auto* own =
      std::find_if(measured_elsewhere.begin(), measured_elsewhere.end(),
                   [&](const auto& known) { return known.first == name; });
    if (own != measured_elsewhere.end()) {
      r.complain(at, fmt::format("its time is {}", own->second));
      continue;
    }
    if (!is_object(r, cost, at))
      continue;
    r.expect_keys(cost, at, {"ms", "ms_per_mpx"});
    if (cost.empty()) {
      r.complain(at, "has neither ms nor ms_per_mpx");
      continue;
    }
    stage_cost out;
    out.name = name;
    r.span(cost, at, "ms", out.each);
    r.span(cost, at, "ms_per_mpx", out.per_megapixel);
    into.stages.push_back(std::move(out));
  }
  std::sort(into.stages.begin(), into.stages.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
}

} // namespace

bool has_sections(const profile& x) {
  return x.idle_watts != 0 || !x.ladders.empty() || !x.cascades.empty()
      || x.reuse || !x.masked.empty() || !x.stages.empty()
      || std::any_of(x.variants.begin(), x.variants.end(),
                     [](const auto& v) { return v.busy_watts != 0; });
}

void write_sections(const profile& x, json& into) {
  if (!has_sections(x))
    return;
  into["idle_watts"] = x.idle_watts;
  auto& ladders = into["ladders"] = json::array();
  for (const ladder_profile& l : x.ladders) {
    auto levels = json::array();
    for (const level_profile& v : l.levels) {
      levels.push_back({{"variant", name_of(x, v.variant)},
                        {"skip", v.skip},
                        {"quality", v.quality},
                        {"class_quality", v.class_quality}});
      if (v.images != 0)
        levels.back()["pictures"] = v.images;
      if (v.deviation != 0)
        levels.back()["deviation"] = v.deviation;
    }
    ladders.push_back({{"kind", name_of(l.kind)},
                       {"levels", std::move(levels)},
                       {"class_shares", l.class_shares}});
    if (l.accuracy)
      ladders.back()["accuracy"] = *l.accuracy;
  }
  auto& cascades = into["cascades"] = json::array();
  for (const cascade_profile& c : x.cascades) {
    cascades.push_back({{"light", name_of(x, c.light)},
                        {"heavy", name_of(x, c.heavy)},
                        {"judge", c.judge},
                        {"judging_ms", ms_of(c.judging)},
                        {"deadline_ms", ms_of(c.deadline)},
                        {"deferred", pairs_json(c.deferred)},
                        {"fid", pairs_json(c.fid)},
                        {"peak_rate", c.peak_rate}});
    if (!c.fid_error.empty())
      cascades.back()["fid_error"] = c.fid_error;
    if (c.fixed)
      cascades.back()["fixed"] = {{"threshold", c.fixed->threshold},
                                  {"light", c.fixed->light},
                                  {"heavy", c.fixed->heavy},
                                  {"light_batch", c.fixed->light_batch},
                                  {"heavy_batch", c.fixed->heavy_batch}};
  }
  if (x.reuse) {
    auto small = json::array();
    for (const core::variant_id v : x.reuse->small)
      small.push_back(name_of(x, v));
    into["reuse"] = {{"full", name_of(x, x.reuse->full)},
                     {"small", std::move(small)},
                     {"steps", x.reuse->steps},
                     {"latents", table_json(x.reuse->latents)},
                     {"images", table_json(x.reuse->images)},
                     {"retrieval_ms", ms_of(x.reuse->retrieval)}};
    if (x.reuse->images_by == compared::prompts)
      into["reuse"]["images_by"] = "prompts";
    if (x.reuse->answers_from)
      into["reuse"]["answers_from"] = *x.reuse->answers_from;
    if (const auto& n = x.reuse->near)
      into["reuse"]["near"] = {
        {"mean", n->mean}, {"spread", n->spread}, {"found", n->found}};
    if (const auto& p = x.reuse->predictor)
      into["reuse"]["predictor"] = {{"recall", p->recall},
                                    {"false_alarms", p->false_alarms}};
    if (x.reuse->measured)
      into["reuse"]["measured"] = evidence_json(*x.reuse->measured);
  }
  auto& masked = into["masked"] = json::array();
  for (const masked_profile& m : x.masked) {
    masked.push_back({{"variant", name_of(x, m.variant)},
                      {"blocks", m.blocks},
                      {"tokens", m.tokens},
                      {"width", m.width},
                      {"bytes_per_value", m.bytes_per_value},
                      {"keys_values", m.keys_values},
                      {"compute_slope", m.compute_slope},
                      {"compute_base", m.compute_base},
                      {"load_slope", m.load_slope},
                      {"load_base", m.load_base}});
    if (m.published_plan)
      masked.back()["published_plan"] = true;
  }
  if (x.stages.empty())
    return;
  auto& stages = into["stages"] = json::object();
  for (const auto& cost : x.stages)
    stages[cost.name] = {{"ms", ms_of(cost.each)},
                         {"ms_per_mpx", ms_of(cost.per_megapixel)}};
}

void read_sections(json_reader& r, const json& document, profile& into) {
  r.real(document, "profile", "idle_watts", 0, most_watts, into.idle_watts,
         false);
  const std::string top;
  each(r, document, top, "ladders", [&](const json& x, const std::string& at) {
    read_ladder(r, x, at, into);
  });
  each(r, document, top, "cascades", [&](const json& x, const std::string& at) {
    read_cascade(r, x, at, into);
  });
  if (const auto* reuse = r.find(document, top, "reuse", false))
    read_reuse(r, *reuse, into);
  each(r, document, top, "masked", [&](const json& x, const std::string& at) {
    read_masked(r, x, at, into);
  });
  if (const auto* stages = r.find(document, top, "stages", false))
    read_stages(r, *stages, into);
}

} // namespace atelier::planning::detail

namespace atelier::planning {

std::string_view name_of(ladder_kind kind) {
  const auto& names = detail::ladder_names;
  return names[kind == ladder_kind::cached_latents ? 0 : 1].second;
}

} // namespace atelier::planning
