// SPDX-License-Identifier: Apache-2.0
// Builds the profile of an engine from its configuration and models. Long,
// because the variants, their guessed costs and the sections of a profile file
// share the same table of known variants.
#include <atelier/config/device_kind.hpp>
#include <atelier/core/log.hpp>
#include <atelier/core/text_file.hpp>
#include <atelier/gpu/models/catalog/model_facts.hpp>
#include <atelier/gpu/models/catalog/open_model.hpp>
#include <atelier/planning/automatic.hpp>
#include <atelier/planning/confidence.hpp>
#include <atelier/planning/kinds.hpp>
#include <atelier/planning/plan_needs.hpp>
#include <atelier/planning/policies/fixed/fixed.hpp>
#include <atelier/planning/profile_file.hpp>
#include <atelier/planning/random_judge.hpp>
#include <atelier/runtime/encoder_identity.hpp>
#include <atelier/runtime/profile_of.hpp>
#include <atelier/runtime/program_folder.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace atelier::runtime {

namespace {

// What a test card costs beside its configured step: measured on two cores of
// an AMD EPYC, 2026-11-21; a prediction for watching, not a promise.
constexpr core::timespan card_step = std::chrono::milliseconds{1};
constexpr uint64_t card_px = 512ull * 512;
constexpr uint64_t smallest_card_px = 64;
constexpr uint32_t card_batch = 8;

constexpr double least_step_seconds = 0.001;
constexpr double decode_seconds = 0.1;

void describe_card(const config::device_settings& device,
                   planning::variant_profile& v) {
  v.guessed = true;
  v.native_px = {256, 256};
  // Its configured part is the same for all sizes and batches: were it taken to
  // grow with the pixels, small images would be predicted at a fraction of
  // their time, and what corrects that would blow up their decoding.
  for (const uint32_t batch : {1u, card_batch})
    for (const uint64_t px : {smallest_card_px, card_px})
      v.step.push_back({batch, px,
                        device.test_card_step
                          + batch * card_step * static_cast<int64_t>(px)
                              / static_cast<int64_t>(card_px)});
  v.decode = std::chrono::milliseconds{5};
}

// Nothing is measured yet: a slow machine of the device's kind is assumed, so
// that no worker is taken for hung. What is the same for all models is left to
// decoding: as a part of each step it would make all of them equally slow, and
// plans would have no use for the faster ones.
void describe_model(const config::model_settings& model,
                    const gpu::model_facts& facts, bool on_cpu,
                    planning::variant_profile& v) {
  v.guessed = true;
  v.native_px = facts.native_px;
  v.native_only = facts.traits.native_only;
  v.latent_channels = facts.latent_channels;
  v.latent_factor = facts.latent_factor;
  v.sampler = facts.schedule.sampler;
  v.karras = facts.schedule.use_karras_sigmas;
  v.guidance = model.guidance >= 0 ? model.guidance : facts.guidance;
  v.embeds_guidance = facts.embeds_guidance;
  v.lcm_steps = facts.lcm_steps;
  v.samples_source = facts.samples_source;
  const double per_second = on_cpu ? 2e10 : 2e12;
  // A guided step is two passes. A pass of SD 1.5 (860 million parameters) at
  // 64x64 takes about 0.8e12 operations: 0.23 for each parameter and place.
  const double places = static_cast<double>(facts.native_px.pixels())
                      / facts.latent_factor / facts.latent_factor;
  const double step = 2 * 0.23 * static_cast<double>(facts.denoiser_parameters)
                    * places / per_second;
  const auto took = core::from_seconds(std::max(step, least_step_seconds));
  v.step = {{1, facts.native_px.pixels(), took}};
  v.decode = 3 * took + core::from_seconds(decode_seconds);
  // An encoder has about half of its decoder's operations.
  v.encode = v.decode / 2;
  v.memory_bytes = facts.parameters * core::bytes_of(v.precision);
}

core::result<gpu::model_facts> read_facts(const config::model_settings& x) {
  auto files = gpu::open_model(x.path, file_options_of(x));
  if (!files)
    return core::fail(files.why().code, "models: {}: {}", x.name,
                      files.why().text);
  auto facts = gpu::facts_of(*files);
  if (!facts)
    return core::fail(facts.why().code, "models: {}: {}", x.name,
                      facts.why().text);
  return facts;
}

} // namespace

gpu::model_file_options file_options_of(const config::model_settings& x) {
  gpu::model_file_options out;
  if (!x.vae.empty())
    out.vae = x.vae;
  out.variant = x.weights;
  if (x.prediction_type != "auto")
    out.prediction_type = x.prediction_type;
  if (x.timestep_spacing != "auto")
    out.timestep_spacing = x.timestep_spacing;
  out.links_anywhere = x.links == "anywhere";
  out.vocabulary = vocabulary_folder();
  return out;
}

namespace {

// `option`: for messages. `own`: the host's stages.
core::result<planning::profile> read_profile(std::string_view option,
                                             const std::string& file,
                                             const own_stages& own) {
  if (file.empty())
    return planning::profile{};
  const auto text =
    core::read_text_file(file, planning::most_profile_bytes, file);
  if (!text)
    return core::fail(core::ec::bad_config, "{}: {}", option, text.why().text);
  auto out = planning::parse_profile(*text, file);
  if (!out)
    return out;
  if (auto there = actors::check_stages(*out, own); !there)
    return core::fail(core::ec::bad_config, "{}: {}: {}", option, file,
                      there.why().text);
  return out;
}

/// A variant before anything is measured, on one device.
struct guess {
  planning::variant_profile costs;
  /// Null where it is the test card.
  std::shared_ptr<const gpu::scheduler_config> schedule;
  gpu::model_traits traits;
  uint32_t text_layers = 0;
};

/// Guesses what variants take; opens each model once.
class guesses {
public:
  guesses(const config::settings& of, unreadable models)
    : of_(of), unreadable_models_(models) {}

  core::result<guess> on(const config::device_settings& device,
                         const std::string& name) {
    auto v = planning::parse_variant(name);
    if (!v)
      return v.why();
    guess out;
    out.costs = std::move(*v);
    out.costs.rated = false;
    const auto model =
      std::find_if(of_.models.begin(), of_.models.end(),
                   [&](const auto& m) { return m.name == out.costs.model; });
    const bool hosts =
      device.executor != "torch" && device.executor != "test_card";
    // A host's executor may run a model of the settings, or what only the host
    // knows.
    if (device.executor == "test_card"
        || (hosts && model == of_.models.end())) {
      describe_card(device, out.costs);
      return out;
    }
    if (model == of_.models.end())
      return core::fail(core::ec::bad_config,
                        "variant '{}': model '{}' was not found", name,
                        out.costs.model);
    auto known = models_.find(model->name);
    if (known == models_.end()) {
      auto read = read_facts(*model);
      if (!read && unreadable_models_ == unreadable::named) {
        describe_card(device, out.costs);
        return out;
      }
      if (!read)
        return read.why();
      auto schedule =
        std::make_shared<const gpu::scheduler_config>(read->schedule);
      known =
        models_.emplace(model->name, known_model{*read, std::move(schedule)})
          .first;
    }
    describe_model(*model, known->second.facts,
                   planning::device_kind_of(device.name) == "cpu", out.costs);
    out.schedule = known->second.schedule;
    out.traits = known->second.facts.traits;
    out.text_layers = known->second.facts.text_layers;
    return out;
  }

private:
  struct known_model {
    gpu::model_facts facts;
    std::shared_ptr<const gpu::scheduler_config> schedule;
  };

  const config::settings& of_;
  const unreadable unreadable_models_;
  std::map<std::string_view, known_model> models_;
};

void take_quality(const planning::variant_profile& from,
                  planning::variant_profile& to) {
  if (!from.rated)
    return;
  to.quality = from.quality;
  to.quality_images = from.quality_images;
  to.quality_deviation = from.quality_deviation;
  to.rated = true;
}

// Takes over what was measured; what the variant is stays what its files say.
void take_measured(const planning::profile& measured,
                   planning::variant_profile& v) {
  for (const auto& m : measured.variants) {
    if (m.name != v.name)
      continue;
    v.step = m.step;
    v.text = m.text;
    v.decode = m.decode;
    v.encode = m.encode;
    v.load = m.load;
    v.memory_bytes = m.memory_bytes;
    v.busy_watts = m.busy_watts;
    // Few steps, without their number, may be chance.
    v.guessed = std::any_of(m.step.begin(), m.step.end(),
                            [](const auto& x) { return x.samples == 0; });
    take_quality(m, v);
  }
}

void take_quality(const planning::profile& evaluated,
                  planning::variant_profile& v) {
  for (const auto& m : evaluated.variants)
    if (m.name == v.name)
      take_quality(m, v);
}

// Finds the variants of another profile among those that are hosted.
class hosted_variants {
public:
  hosted_variants(const planning::profile& of, const planning::profile& in)
    : of_(of), in_(in) {}

  // Returns whether it is hosted; then `x` is its number here.
  bool take(core::variant_id& x) const {
    const auto& name = of_.variants[x.value].name;
    for (uint32_t i = 0; i < in_.variants.size(); ++i)
      if (in_.variants[i].name == name) {
        x = core::variant_id{i};
        return true;
      }
    return false;
  }

private:
  const planning::profile& of_;
  const planning::profile& in_;
};

// Whether what a variant takes is a guess on a device that hosts it.
bool is_guess(const config::settings& x, const planning::profile& known,
              core::variant_id variant) {
  const auto& name = known.variants[variant.value].name;
  return std::any_of(
    x.devices.begin(), x.devices.end(), [&](const auto& device) {
      return std::find(device.variants.begin(), device.variants.end(), name)
            != device.variants.end()
          && guessed_on(known, variant, config::device_kind(device));
    });
}

// Takes over the cascades of variants that are hosted, where their judge is.
void take_cascades(const planning::profile& from, const config::settings& x,
                   planning::profile& into) {
  const auto& judges = x.policy.judges;
  const hosted_variants hosted{from, into};
  for (auto c : from.cascades) {
    std::error_code ignored;
    if (!hosted.take(c.light) || !hosted.take(c.heavy) || judges.empty()
        || c.judge.empty()
        || !std::filesystem::exists(
          std::filesystem::path{judges} / c.judge / "config.json", ignored))
      continue;
    // A guess says of no deadline that it cannot be met.
    if (is_guess(x, into, c.light) || is_guess(x, into, c.heavy))
      c.deadline = std::max(c.deadline, planning::no_deadline);
    into.cascades.push_back(std::move(c));
  }
}

// Takes over what else was measured of variants that are hosted. A ladder
// stands only as a whole: its classes are its levels.
void take_sections(const planning::profile& from, planning::profile& into) {
  const hosted_variants hosted{from, into};
  into.idle_watts = from.idle_watts;
  into.measured_with = from.measured_with;
  for (auto ladder : from.ladders)
    if (std::all_of(ladder.levels.begin(), ladder.levels.end(),
                    [&](auto& level) { return hosted.take(level.variant); }))
      into.ladders.push_back(std::move(ladder));
  if (auto reuse = from.reuse; reuse && hosted.take(reuse->full)) {
    std::erase_if(reuse->small, [&](auto& v) { return !hosted.take(v); });
    into.reuse = std::move(reuse);
  }
  for (auto masked : from.masked)
    if (hosted.take(masked.variant))
      into.masked.push_back(masked);
  into.edits_in_full = true;
}

// Returns the costs of the devices of one kind: by their own profile, otherwise
// by that of all devices, otherwise by an estimate.
core::result<planning::kind_profile> kind_of(const config::settings& x,
                                             const std::string& kind,
                                             const planning::profile& measured,
                                             const planning::profile& known,
                                             guesses& guessed,
                                             const own_stages& own_list) {
  planning::kind_profile out;
  out.idle_watts = known.idle_watts;
  out.measured_with = known.measured_with;
  std::optional<planning::profile> own;
  if (const auto at = config::device_with_profile(x, kind)) {
    auto read = read_profile(fmt::format("devices[{}].profile", *at),
                             x.devices[*at].profile, own_list);
    if (!read)
      return read.why();
    own = std::move(*read);
    out = planning::kind_from(known, kind, *own);
  }
  out.kind = kind;
  out.variants.assign(known.variants.size(), std::nullopt);
  for (const auto& device : x.devices) {
    if (config::device_kind(device) != kind)
      continue;
    for (const auto& name : device.variants) {
      auto& costs = out.variants[planning::find_variant(known, name)->value];
      if (costs)
        continue;
      auto v = guessed.on(device, name);
      if (!v)
        return v.why();
      take_measured(own ? *own : measured, v->costs);
      costs = v->costs;
    }
  }
  return out;
}

// Returns the kinds of device whose costs differ from what `known` says of all.
core::result<std::vector<planning::kind_profile>> kinds_of(
  const config::settings& x, const planning::profile& measured,
  const planning::profile& known, guesses& guessed,
  const own_stages& own_list) {
  std::vector<planning::kind_profile> out;
  std::set<std::string> seen;
  for (const auto& device : x.devices) {
    const auto kind = config::device_kind(device);
    if (!seen.insert(kind).second)
      continue;
    auto of = kind_of(x, kind, measured, known, guessed, own_list);
    if (!of)
      return of.why();
    bool differs = config::device_with_profile(x, kind).has_value();
    for (size_t i = 0; i < known.variants.size() && !differs; ++i) {
      const planning::running_costs& any = known.variants[i];
      differs = of->variants[i] && *of->variants[i] != any;
    }
    if (differs)
      out.push_back(std::move(*of));
  }
  return out;
}

// What a plan's gates ask must be there: nothing would answer.
core::result<void> check_judges(const planning::plan& made,
                                const planning::profile& known,
                                std::string_view where) {
  for (const auto& r : made.routes)
    for (const auto& s : r.legs) {
      if (!s.check)
        continue;
      const auto& judge = s.check->judge;
      const bool there =
        judge == planning::random_judge
        || std::any_of(known.cascades.begin(), known.cascades.end(),
                       [&](const auto& c) { return c.judge == judge; });
      if (!there)
        return core::fail(core::ec::bad_config,
                          "planner.plan: {}: route '{}' asks the judge '{}', "
                          "which was not found",
                          where, r.name, judge);
    }
  return {};
}

} // namespace

core::result<known_variants> know_variants(const config::settings& x,
                                           unreadable models,
                                           const own_stages& own) {
  const auto measured = read_profile("planner.profile", x.planner.profile, own);
  if (!measured)
    return measured.why();
  const auto evaluated =
    read_profile("planner.quality", x.planner.quality, own);
  if (!evaluated)
    return evaluated.why();
  known_variants out;
  auto& known = out.costs;
  known.prepare = std::chrono::milliseconds{5};
  known.finish = std::chrono::milliseconds{50};
  known.source = std::chrono::milliseconds{100};
  if (!measured->variants.empty()) {
    known.prepare = measured->prepare;
    known.finish = measured->finish;
    known.source = measured->source;
    known.stages = measured->stages;
  }
  guesses guessed{x, models};
  for (const auto& device : x.devices)
    for (const auto& name : device.variants) {
      if (planning::find_variant(known, name))
        continue;
      auto v = guessed.on(device, name);
      if (!v)
        return v.why();
      take_quality(*evaluated, v->costs);
      take_measured(*measured, v->costs);
      known.variants.push_back(std::move(v->costs));
      out.schedules.push_back(std::move(v->schedule));
      out.traits.push_back(v->traits);
      out.text_layers.push_back(v->text_layers);
    }
  take_sections(*measured, known);
  auto kinds = kinds_of(x, *measured, known, guessed, own);
  if (!kinds)
    return kinds.why();
  known.kinds = std::move(*kinds);
  take_cascades(measured->cascades.empty() ? *evaluated : *measured, x, known);
  known = planning::beyond_chance(std::move(known));
  return out;
}

core::result<planning::profile> profile_of(const config::settings& x,
                                           unreadable models,
                                           const own_stages& own) {
  auto known = know_variants(x, models, own);
  if (!known)
    return known.why();
  return std::move(known->costs);
}

namespace {

planning::compared compared_in(const config::settings& x) {
  return x.cache.compares == "images" ? planning::compared::images
                                      : planning::compared::prompts;
}

/// Returns whether a cache compares what the settings say: a host's may not.
bool is_configured(const config::settings& x, planning::compared found_by) {
  return found_by == compared_in(x);
}

/// Thresholds of images say nothing of what a cache finds by prompts, nor
/// those of prompts of what it finds by images.
core::result<void> check_compared(const config::settings& x,
                                  const planning::policy& by,
                                  const planning::profile& known,
                                  planning::compared found_by) {
  const auto wanted = by.compares(known);
  if (x.cache.memory_bytes == 0 || wanted == planning::compared::nothing
      || wanted == found_by)
    return {};
  if (wanted == planning::compared::prompts)
    return core::fail(
      core::ec::bad_config,
      "{}: it compares prompts with images, and policy '{}' compares prompts "
      "with prompts{}",
      is_configured(x, found_by) ? "cache.compares" : "extensions::cache",
      by.name(),
      is_configured(x, found_by)
        ? "; that takes cache.compares = \"prompts\", or cache.memory_mib = 0"
        : "");
  return core::fail(
    core::ec::bad_config,
    "{}: policy '{}' compares prompts with images (reuse.images_by in the "
    "profile), and this cache compares prompts with prompts; that takes "
    "cache.compares = \"images\" with a CLIP model in cache.encoder, "
    "thresholds of reuse.images that were measured by prompts, with "
    "reuse.images_by \"prompts\", or cache.memory_mib = 0",
    is_configured(x, found_by) ? "cache.compares" : "extensions::cache",
    by.name());
}

/// The similarities of two encoders differ: measured thresholds of another one
/// would be wrong.
core::result<void> check_encoder(const config::settings& x,
                                 const planning::policy& by,
                                 const planning::profile& known) {
  if (x.cache.memory_bytes == 0 || !known.reuse || !known.reuse->measured)
    return {};
  const auto wanted = by.compares(known);
  const bool decides =
    wanted == planning::compared::prompts
    || (wanted == planning::compared::images && known.reuse->measured->answers);
  if (!decides)
    return {};
  const auto here = encoder_identity_of(x);
  if (!here)
    return here.why();
  const auto& there = *known.reuse->measured;
  if (here->revision == there.encoder_revision)
    return {};
  return core::fail(
    core::ec::bad_config,
    "cache.encoder: texts are compared by '{}' (revision {}), but the "
    "thresholds of planner.profile were measured by '{}' (revision {}): set "
    "cache.encoder to that one, or measure again with 'atelier profile "
    "--cache'",
    here->name, here->revision, there.encoder, there.encoder_revision);
}

/// Published thresholds are for the vectors of text encoders, whose
/// similarities are others than those of words.
core::result<void> check_assumed(const config::settings& x,
                                 const planning::policy& by,
                                 const planning::profile& known,
                                 bool is_host_cache) {
  if (x.cache.memory_bytes == 0 || !x.cache.encoder.empty() || is_host_cache)
    return {};
  const auto assumed = by.assumes(known);
  if (!assumed)
    return {};
  return core::fail(
    core::ec::bad_config,
    "planner.profile: policy '{}' {}, because the profile says nothing else; "
    "that is for the vectors of a text encoder, and this cache compares "
    "prompts by their words: {}, set cache.encoder, or set cache.memory_mib = "
    "0",
    by.name(), assumed->what, assumed->remedy);
}

/// Returns whether a policy and what it compares by fit a server.
core::result<void> check_searches(const config::settings& x,
                                  const planning::policy& by,
                                  const planning::profile& known,
                                  planning::compared found_by,
                                  bool is_host_cache) {
  if (auto ok = check_compared(x, by, known, found_by); !ok)
    return ok;
  if (auto ok = check_assumed(x, by, known, is_host_cache); !ok)
    return ok;
  return check_encoder(x, by, known);
}

/// Plans that count with skipped steps have too few workers where none are
/// skipped.
core::result<void> check_skips(const config::settings& x,
                               const planning::policy& by,
                               const planning::profile& known,
                               const planning::skipping_route& skip) {
  constexpr std::string_view otherwise =
    "or take a profile without the ladder \"cached_latents\"";
  const auto what = fmt::format("policy '{}' plans that requests skip steps "
                                "(route '{}')",
                                by.name(), skip.name);
  if (skip.by_worker)
    return core::fail(core::ec::bad_config,
                      "policy.name: {} by the level of their worker: a server "
                      "fetches states before a worker is known, and would skip "
                      "none; take 'argus', {}",
                      what, otherwise);
  if (x.cache.memory_bytes == 0)
    return core::fail(core::ec::bad_config,
                      "policy.name: {}, and this server keeps no states: set "
                      "cache.memory_mib, {}",
                      what, otherwise);
  if (!known.reuse)
    return core::fail(core::ec::bad_config,
                      "planner.profile: {}, and without a section reuse no "
                      "state is found: measure it with 'atelier profile "
                      "--cache', {}",
                      what, otherwise);
  return {};
}

/// Logs that a configured cache is never searched.
void warn_of_unused_cache(const config::settings& x, const planning::policy& by,
                          const planning::profile& known) {
  if (x.cache.memory_bytes == 0
      || by.compares(known) != planning::compared::nothing)
    return;
  auto measured = known;
  measured.reuse.emplace();
  if (!known.reuse && by.compares(measured) != planning::compared::nothing)
    core::log_warn("cache: policy '{}' starts nothing from earlier work, as "
                   "the profile has no section reuse for these models; "
                   "'atelier profile --cache -o FILE' measures it, and "
                   "planner.profile names the file",
                   by.name());
  else
    core::log_warn("cache: policy '{}' starts nothing from earlier work",
                   by.name());
}

} // namespace

core::result<planning::policy_ptr> policy_of(
  const config::settings& x, const planning::profile& known,
  const planning::policy_list& own, std::optional<planning::compared> of_cache,
  bool is_host_cache) {
  const auto found_by = of_cache.value_or(compared_in(x));
  const auto& file = x.planner.plan;
  const auto name = planning::policy_named(x.policy.name, known);
  const bool fixed = name == planning::fixed_name;
  if (fixed && file.empty())
    return core::fail(core::ec::bad_config,
                      "policy.name: 'fixed' answers by a plan: planner.plan is "
                      "empty");
  if (!fixed && !file.empty())
    return core::fail(core::ec::bad_config,
                      "planner.plan: a plan is for policy.name = \"fixed\", "
                      "not for '{}'",
                      x.policy.name);
  if (!fixed) {
    auto made = planning::make_policy(name, own);
    if (!made)
      return core::fail(core::ec::bad_config, "policy.name: {}",
                        made.why().text);
    if (auto ok = check_searches(x, **made, known, found_by, is_host_cache);
        !ok)
      return ok.why();
    // A host's own policy makes plans for its engine alone.
    const bool is_own = std::ranges::find(own, *made) != own.end();
    const auto skip =
      is_own ? std::nullopt : planning::planned_skip(**made, known);
    if (!skip)
      warn_of_unused_cache(x, **made, known);
    else if (auto ok = check_skips(x, **made, known, *skip); !ok)
      return ok.why();
    return made;
  }
  const auto text = core::read_text_file(file, planning::most_plan_bytes, file);
  if (!text)
    return core::fail(text.why().code, "planner.plan: {}", text.why().text);
  auto made = planning::make_fixed(*text, file, known,
                                   std::string{planning::fixed_name}, own);
  if (!made)
    return core::fail(core::ec::bad_config, "planner.plan: {}",
                      made.why().text);
  const auto saved = planning::parse_plan(*text, file, known, own);
  if (!saved)
    return saved.why();
  const bool keeps_work = x.cache.memory_bytes > 0;
  if (auto ok = planning::check_needs(*saved, "planner.plan: " + file, known,
                                      keeps_work, own);
      !ok)
    return ok.why();
  for (const auto& route : saved->routes)
    if (!keeps_work && route.store != planning::store_set{})
      core::log_warn("planner.plan: {}: route '{}': store is ignored, this "
                     "server keeps no earlier work",
                     file, route.name);
  if (auto ok = check_searches(x, **made, known, found_by, is_host_cache); !ok)
    return ok.why();
  if (auto ok = check_judges((*made)->replan({}, known, {}, {}), known, file);
      !ok)
    return ok.why();
  return made;
}

} // namespace atelier::runtime
