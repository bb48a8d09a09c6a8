// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/source_files.hpp>
#include <atelier/core/image/codec.hpp>
#include <atelier/core/limits.hpp>
#include <atelier/core/prompt_check.hpp>
#include <atelier/core/tenant.hpp>
#include <atelier/gpu/source_format.hpp>
#include <atelier/gpu/state_format.hpp>
#include <atelier/planning/policy.hpp>
#include <atelier/planning/reuse/least_similarity.hpp>
#include <atelier/runtime/door.hpp>
#include <atelier/runtime/public_parameters.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>
#include <vector>

namespace atelier::runtime {

namespace {

using core::ec;

template <class T, class Parse>
core::result<T> one_of(std::string_view field, const std::string& value,
                       Parse parse, std::string_view names) {
  if (const auto x = parse(value))
    return *x;
  return core::fail(ec::invalid_argument, "{} '{}' is not one of {}", field,
                    value, names);
}

/// Copies the parameters; core::validate checks their ranges.
core::result<void> take_parameters(const generation& from, core::request& to) {
  core::result<void> first;
  each_wanted([&](const core::parameter& x, auto at, auto member) {
    using type = typename decltype(at)::type;
    const auto* const asked = held(from.*member);
    if (asked == nullptr || !first)
      return;
    auto& into = asked_of(to, at);
    if constexpr (std::is_enum_v<type>) {
      const auto value = core::parse_name<type>(*asked);
      if (value)
        into = *value;
      else
        first =
          core::fail(ec::invalid_argument, "{} '{}' is not one of {}", x.name,
                     *asked, fmt::join(core::names_of<type>(), ", "));
    } else {
      into = *asked;
    }
  });
  return first;
}

/// Returns how a request that does not say it uses the cache. A seed that its
/// client chose wants that seed's very image.
core::cache_use cache_use_of(const generation& wanted,
                             const config::settings& within) {
  const auto use = core::parse_name<core::cache_use>(within.cache.use);
  ATELIER_EXPECTS(use.has_value(), "cache.use is one of its choices");
  const bool chosen = wanted.seed && !wanted.seed_drawn;
  return chosen || wanted.deterministic ? core::without_reading(*use) : *use;
}

/// A client may raise the profile's threshold for itself, and not lower it.
core::result<void> check_similarity(const generation& wanted,
                                    const planning::profile& known) {
  if (!wanted.cache_similarity)
    return {};
  const auto value = *wanted.cache_similarity;
  if (known.reuse)
    if (const auto least = planning::least_similarity(*known.reuse);
        value < static_cast<float>(least))
      return core::fail(ec::invalid_argument,
                        "cache_similarity {} outside {}..1: the profile starts "
                        "images from earlier work from {} on",
                        value, least, least);
  if (!wanted.cache)
    return {};
  // Its name was checked with the other parameters.
  const auto use = core::parse_name<core::cache_use>(*wanted.cache);
  if (use && !core::reads(*use))
    return core::fail(
      ec::invalid_argument,
      "cache_similarity {} has no effect with cache '{}', which "
      "starts from no earlier work",
      value, *wanted.cache);
  return {};
}

template <class Name>
core::error unknown(std::string_view field, const std::string& value,
                    const planning::profile& known, Name name) {
  std::vector<std::string> names;
  for (const auto& v : known.variants)
    if (std::find(names.begin(), names.end(), name(v)) == names.end())
      names.push_back(name(v));
  return core::fail(ec::not_found, "{} not found: '{}' (available: {})", field,
                    value, fmt::join(names, ", "));
}

/// Returns the maximum bytes of an encoded image: incompressible pixels with
/// the format's own overhead, and the texts, twice as long in UTF-16.
uint64_t most_encoded_bytes(core::extent px, const core::prompt_pair& text) {
  const auto raw = px.pixels() * 3;
  constexpr uint64_t margin = 64 * 1024;
  return raw + raw / 16 + 2 * (text.positive.size() + text.negative.size())
       + margin;
}

core::result<core::extent> extent_of(std::string_view field,
                                     const std::vector<uint8_t>& file) {
  const auto head = image::read_header(file);
  if (!head)
    return core::fail(head.why().code, "{}: {}", field, head.why().text);
  return head->upright_px();
}

/// Returns the client's files; null if it sends none.
core::result<std::shared_ptr<const core::source_images>> source_of(
  const generation& wanted) {
  if (wanted.image.empty()) {
    if (!wanted.mask.empty())
      return core::fail(ec::invalid_argument, "mask needs an image");
    return std::shared_ptr<const core::source_images>{};
  }
  auto x = std::make_shared<core::source_images>();
  const auto image_px = extent_of("image", wanted.image);
  if (!image_px)
    return image_px.why();
  x->image_px = *image_px;
  if (!wanted.mask.empty()) {
    const auto mask_px = extent_of("mask", wanted.mask);
    if (!mask_px)
      return mask_px.why();
    x->mask_px = *mask_px;
  }
  x->image = wanted.image;
  x->mask = wanted.mask;
  return std::shared_ptr<const core::source_images>{std::move(x)};
}

/// Returns the size of an image that starts from an image of `px`: that size on
/// the grid, scaled down in both directions if it exceeds the limits.
core::extent own_size(core::extent px, const core::limits& within) {
  const double width = px.width;
  const double height = px.height;
  const double scale = std::min(
    {1.0, within.side_px / std::max(width, height),
     std::sqrt(static_cast<double>(within.picture_px) / (width * height))});
  const auto on_grid = [&](double side) {
    const auto whole = static_cast<uint32_t>(side * scale);
    return std::max(whole / core::grid_px * core::grid_px, core::grid_px);
  };
  return {on_grid(width), on_grid(height)};
}

core::result<void> source_fits(const core::request& x, core::extent drawn,
                               const config::arena_settings& arena) {
  if (arena.image_slots < actors::image_slots_for_source)
    return core::fail(ec::invalid_argument,
                      "image needs {} image slots, but only {} exist "
                      "(arena.image_slots)",
                      actors::image_slots_for_source, arena.image_slots);
  const auto files = actors::source_files_bytes(*x.source);
  if (files > arena.image_slot_bytes)
    return core::fail(ec::invalid_argument,
                      "image and mask need {} bytes, a slot holds {} "
                      "(arena.image_slot_kib)",
                      files, arena.image_slot_bytes);
  const bool masked = !x.source->mask.empty();
  const auto kept = masked && drawn != x.px ? x.px : core::extent{};
  const auto pixels = gpu::source_bytes(drawn, masked, kept);
  if (pixels > arena.image_slot_bytes)
    return core::fail(ec::invalid_argument,
                      "size {}x{} needs {} bytes of image and mask, a slot "
                      "holds {} (arena.image_slot_kib)",
                      x.px.width, x.px.height, pixels, arena.image_slot_bytes);
  return {};
}

/// Refuses a strength that leaves no step to run.
core::result<void> leaves_steps(const core::request& x,
                                const planning::variant_profile& v) {
  if (!x.fixed.strength)
    return {};
  const auto steps = x.fixed.steps.value_or(v.steps);
  const auto with = x.fixed.sampler.value_or(v.sampler);
  if (core::steps_of_share(with, steps, *x.fixed.strength, x.strength_rule,
                           v.lcm_steps)
      > 0)
    return {};
  // To six digits, rounded up.
  const auto least = std::ceil(1e6 / steps) / 1e6;
  return core::fail(ec::invalid_argument,
                    "strength {} of {} steps leaves none to run; at least {:g} "
                    "does",
                    *x.fixed.strength, steps, least);
}

/// Refuses a layer that the model's text encoders do not have. Without
/// clip_skip an encoder of any depth does.
core::result<void> has_layer(const core::request& x,
                             const known_variants& known,
                             core::variant_id variant) {
  const auto most = known.text_layers[variant.value];
  if (x.clip_skip == 1 || most == 0 || x.clip_skip <= most)
    return {};
  return core::fail(ec::invalid_argument,
                    "clip_skip {} outside 1..{}, the layers of the model's "
                    "text encoder",
                    x.clip_skip, most);
}

/// Refuses requests that the variant's noise schedule cannot run. Returns the
/// bytes that a state carries in addition to its latent.
core::result<size_t> runs(const core::request& x, const known_variants& known,
                          core::variant_id variant) {
  const auto& v = known.costs.variants[variant.value];
  if (auto good = leaves_steps(x, v); !good)
    return good.why();
  if (auto good = has_layer(x, known, variant); !good)
    return good.why();
  const auto& schedule = known.schedules[variant.value];
  if (!schedule)
    return size_t{0};
  const auto how = planning::recipe_of(x, {}, variant, known.costs);
  const auto plan = gpu::plan_sampler(*schedule, gpu::choice_of(how));
  if (!plan)
    return plan.why();
  if (!plan->needs_last)
    return size_t{0};
  return planning::latent_of(v, how.px).elements() * sizeof(float);
}

core::result<void> fits(const core::request& x, const config::settings& within,
                        const planning::variant_profile& v, size_t history) {
  const auto drawn = planning::drawn_px(v, x);
  const auto px = planning::image_of(v, x.px);
  const auto state = gpu::state_bytes(planning::latent_of(v, drawn), history);
  if (state > within.arena.state_slot_bytes)
    return core::fail(ec::invalid_argument,
                      "size {}x{} needs {} bytes of state, a slot holds {} "
                      "(arena.state_slot_kib)",
                      drawn.width, drawn.height, state,
                      within.arena.state_slot_bytes);
  const auto image = most_encoded_bytes(px, x.text);
  if (image > within.arena.image_slot_bytes)
    return core::fail(ec::invalid_argument,
                      "size {}x{} needs up to {} bytes of image, a slot "
                      "holds {} (arena.image_slot_kib)",
                      px.width, px.height, image,
                      within.arena.image_slot_bytes);
  return x.source ? source_fits(x, drawn, within.arena) : core::result<void>{};
}

/// Returns whether the client named a value that some variants cannot run.
bool names_values(const core::request& x) {
  core::settled_parameters settled = x;
  // These say nothing of a run.
  settled.deterministic = false;
  settled.cache = {};
  settled.cache_similarity = 0;
  core::settled_parameters plain;
  plain.cache = {};
  return core::asks_for_any(x.fixed) || settled != plain;
}

/// Returns the variants that a policy must not choose for a request.
std::vector<core::variant_id> unable_to_run(const core::request& x,
                                            const config::settings& within,
                                            const known_variants& known,
                                            core::variant_id first) {
  std::vector<core::variant_id> out;
  // No policy chooses another variant for these.
  if (x.fixed.model || x.fixed.variant)
    return out;
  // A size may be too large for the state of another sampler.
  const bool planned = names_values(x) || x.px.pixels() > 0;
  const auto& all = known.costs.variants;
  for (uint32_t i = 0; i < all.size(); ++i) {
    const core::variant_id variant{i};
    if (variant == first)
      continue;
    const auto history =
      planned ? runs(x, known, variant) : core::result<size_t>{size_t{0}};
    if (!history || !fits(x, within, all[i], *history))
      out.push_back(variant);
  }
  return out;
}

/// Returns the notes of the client's own host, unchanged.
core::result<std::vector<core::note>> notes_of(const std::vector<note>& from) {
  if (from.size() > core::most_notes)
    return core::fail(ec::invalid_argument, "notes: {} outside 0..{}",
                      from.size(), core::most_notes);
  std::vector<core::note> out;
  for (const auto& x : from) {
    const auto code = core::parse_note_code(x.code);
    if (!code)
      return core::fail(ec::invalid_argument, "notes: '{}' is not a note code",
                        x.code);
    if (x.text.size() > core::most_note_bytes)
      return core::fail(ec::invalid_argument,
                        "notes: a text of {} bytes outside 0..{}",
                        x.text.size(), core::most_note_bytes);
    out.push_back({*code, x.text});
  }
  return out;
}

} // namespace

core::result<void> check_deadline(const config::settings& x,
                                  const planning::profile& known) {
  if (x.policy.deadline != "profile" || x.policy.own_deadline.count() > 0
      || usual_deadline(x, known))
    return {};
  return core::fail(ec::bad_config,
                    "policy.deadline: 'profile' needs a profile with "
                    "cascades[].deadline_ms, and this one has none; "
                    "policy.deadline_ms sets a deadline of its own");
}

std::optional<core::timespan> usual_deadline(const config::settings& x,
                                             const planning::profile& known) {
  if (x.policy.own_deadline.count() > 0)
    return x.policy.own_deadline;
  if (x.policy.deadline != "profile" || known.cascades.empty()
      || known.cascades.front().deadline.count() <= 0)
    return std::nullopt;
  return known.cascades.front().deadline;
}

core::result<core::request> to_request(const generation& wanted,
                                       const config::settings& within,
                                       const known_variants& known,
                                       core::request_id id, uint64_t fresh_seed,
                                       core::time_point now) {
  core::request x;
  x.id = id;
  x.text = {wanted.prompt, wanted.negative};
  x.px = {wanted.width, wanted.height};
  x.native_only = wanted.native_only.value_or(true);
  x.seed = wanted.seed.value_or(fresh_seed);
  x.fixed.model = wanted.model;
  x.fixed.variant = wanted.variant;
  x.preview_every = wanted.preview_every;
  x.trace = wanted.trace;
  x.tenant = core::tenant_of(wanted.tenant);
  x.share = wanted.share;
  auto notes = notes_of(wanted.notes);
  if (!notes)
    return notes.why();
  x.notes = std::move(*notes);
  x.arrived = now;
  x.output.quality = wanted.quality;
  const auto format = one_of<core::image_format>(
    "format", wanted.format, core::parse_image_format, "png, jpeg, webp");
  if (!format)
    return format.why();
  x.output.format = *format;
  const auto prio = one_of<core::priority>(
    "priority", wanted.priority, core::parse_priority, "low, normal, high");
  if (!prio)
    return prio.why();
  x.prio = *prio;
  x.cache = cache_use_of(wanted, within);
  if (auto good = take_parameters(wanted, x); !good)
    return good.why();
  // A rule for weights asks for the syntax that has them.
  if (wanted.emphasis && !wanted.prompt_syntax)
    x.syntax = core::prompt_grammar::webui;
  if (auto good = core::check_prompts(x, wanted.emphasis.has_value()); !good)
    return good.why();
  core::note_syntax(x);
  if (auto good = check_similarity(wanted, known.costs); !good)
    return good.why();
  if (wanted.deadline) {
    if (wanted.deadline->count() <= 0)
      return core::fail(ec::invalid_argument,
                        "deadline {} ms from now is not after now",
                        core::to_ms(*wanted.deadline));
    x.deadline = core::after(now, *wanted.deadline);
  } else if (const auto own = usual_deadline(within, known.costs)) {
    x.deadline = core::after(now, *own);
  }
  auto source = source_of(wanted);
  if (!source)
    return source.why();
  x.source = std::move(*source);
  if (x.source) {
    if (!x.source->mask.empty())
      x.kind = core::request_kind::edit;
    if (x.px == core::extent{})
      x.px = own_size(x.source->image_px, within.limits);
  }
  if (auto valid = core::validate(x, within.limits); !valid)
    return valid.why();
  core::variant_id variant{0};
  if (x.fixed.model) {
    const auto found = planning::find_variant(known.costs, *x.fixed.model);
    if (!found)
      return unknown("model", *x.fixed.model, known.costs,
                     [](const auto& y) { return y.model; });
    variant = *found;
  }
  if (x.fixed.variant) {
    const auto found = planning::find_variant(known.costs, *x.fixed.variant);
    if (!found)
      return unknown("variant", *x.fixed.variant, known.costs,
                     [](const auto& y) { return y.name; });
    variant = *found;
  }
  const auto history = runs(x, known, variant);
  if (!history)
    return history.why();
  const auto& v = known.costs.variants[variant.value];
  if (auto good = fits(x, within, v, *history); !good)
    return good.why();
  x.unable = unable_to_run(x, within, known, variant);
  return x;
}

core::result<void> can_draw(const config::settings& x,
                            const known_variants& known) {
  core::result<void> first;
  const auto& all = known.costs.variants;
  for (uint32_t i = 0; i < all.size(); ++i) {
    core::request own;
    own.fixed.variant = all[i].name;
    const auto history = runs(own, known, core::variant_id{i});
    // A variant that cannot run at all fails for another reason.
    const auto good =
      history ? fits(own, x, all[i], *history) : core::result<void>{};
    if (good)
      return {};
    if (first)
      first = core::fail(ec::bad_config,
                         "no variant can be drawn at its own size: {}: {}",
                         all[i].name, good.why().text);
  }
  return first;
}

core::result<core::suspicion> to_suspicion(const suspicion& x) {
  const auto at = core::parse_phase(x.phase);
  if (!at)
    return core::fail(
      ec::invalid_argument,
      "suspected.phase '{}' is not one of preparing, denoising, "
      "finishing",
      x.phase);
  return core::suspicion{*at, x.stage, x.steps, x.trials};
}

failure to_failure(const core::error& why, core::timespan retry_after) {
  return {std::string{core::to_string(why.code)}, why.text, retry_after};
}

} // namespace atelier::runtime
