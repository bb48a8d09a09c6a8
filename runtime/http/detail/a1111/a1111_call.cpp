// SPDX-License-Identifier: Apache-2.0
// Long, because it names every field of the web UI's calls.
#include <atelier/core/error.hpp>
#include <atelier/core/image/codec.hpp>
#include <atelier/core/note.hpp>
#include <atelier/core/prompt_check.hpp>
#include <atelier/runtime/http/api_error.hpp>
#include <atelier/runtime/http/base64.hpp>
#include <atelier/runtime/http/detail/a1111/a1111_call.hpp>
#include <atelier/runtime/http/detail/a1111/a1111_infotext.hpp>
#include <atelier/runtime/http/detail/a1111/a1111_sampler.hpp>
#include <atelier/runtime/http/detail/generation_fields.hpp>
#include <atelier/runtime/http/detail/hints.hpp>
#include <atelier/runtime/http/detail/jobs/idempotency.hpp>
#include <atelier/runtime/http/detail/parameter_fields.hpp>
#include <atelier/runtime/http/detail/replies.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace atelier::runtime::http::detail {

namespace {

using core::ec;

constexpr auto shape = error_shape::a1111;

/// Reads a side and rounds it down to the grid, as the web UI does.
uint32_t side(field_reader& r, const char* name, const core::limits& within) {
  const auto x = r.whole(name, core::grid_px, within.side_px).value_or(0);
  return static_cast<uint32_t>(x) / core::grid_px * core::grid_px;
}

/// Reads the call's override_settings, and the hints among the options that
/// were set before. The overrides become options if the call says so.
void read_overrides(field_reader& r, const a1111_options& set,
                    const api_context& with, a1111_call& call,
                    generation& into) {
  const auto* const all = r.find("override_settings");
  const bool restores =
    r.flag("override_settings_restore_afterwards").value_or(true);
  if (all != nullptr && !all->is_object())
    return r.refuse(
      "override_settings",
      fmt::format("override_settings {} is not an object", shown(*all)));
  auto both = set.hints;
  if (all != nullptr)
    both.update(*all);
  field_reader o{both, field_reader::from::form};
  const auto model = o.text("sd_model_checkpoint", 256).value_or("");
  // No model is known before the engine has started, which then refuses the
  // call.
  const auto known = with.images->variants();
  if (!model.empty() && !known.empty()
      && !choose_checkpoint(known, model, into))
    o.refuse("sd_model_checkpoint",
             fmt::format("sd_model_checkpoint not found: '{}' "
                         "(/sdapi/v1/sd-models lists them)",
                         model),
             ec::not_found);
  const auto format = o.text("samples_format", 16).value_or("");
  if (!format.empty())
    into.format = format == "jpg" ? "jpeg" : format;
  if (const auto quality = o.whole("jpeg_quality", 1, 100))
    into.quality = static_cast<uint32_t>(*quality);
  read_prompt_options(o, into);
  o.hint("a1111 options");
  o.only("sd_vae", {"Automatic", "None", ""});
  o.only("eta_noise_seed_delta", {0});
  o.only("forge_additional_modules", {json::array()});
  o.ignore({"save_images_add_number", "save_txt", "save_to_dirs", "filter_nsfw",
            "grid_save", "samples_save", "enable_pnginfo", "return_grid",
            "do_not_show_images"});
  o.no_others();
  if (!o.good())
    return r.refuse("override_settings", "override_settings: " + o.why().text,
                    o.why().code);
  note_ignored_fields(o.notes(), into);
  if (restores || all == nullptr)
    return;
  call.options = set;
  if (!model.empty())
    call.options->sd_model_checkpoint = model;
  call.options->samples_format = into.format;
  call.options->jpeg_quality = into.quality;
  for (const auto& x : hints())
    if (x.api == "a1111 options" && both.contains(x.field))
      call.options->hints[std::string{x.field}] = both[std::string{x.field}];
  for (const auto field : a1111_prompt_options)
    if (both.contains(field))
      call.options->prompts[std::string{field}] = both[std::string{field}];
}

/// Whether the arguments of a script leave it off: none are given, the first
/// one says so, or each is an object that says so.
bool asks_for_nothing(const json& script) {
  if (!script.is_object())
    return script.is_null();
  const auto args = script.find("args");
  if (args == script.end() || args->is_null() || args->empty())
    return script.size() == (args == script.end() ? 0u : 1u);
  const auto off = [](const json& x) {
    return x.is_object() && x.contains("enabled") && x["enabled"] == false;
  };
  return script.size() == 1 && args->is_array()
      && (args->front() == false
          || std::all_of(args->begin(), args->end(), off));
}

/// Front ends always send the scripts that they know, also those that are off.
void read_scripts(field_reader& r) {
  const auto* const all = r.find("alwayson_scripts");
  if (all == nullptr)
    return;
  if (!all->is_object())
    return r.refuse(
      "alwayson_scripts",
      fmt::format("alwayson_scripts {} is not an object", shown(*all)));
  for (const auto& [name, script] : all->items())
    if (!asks_for_nothing(script))
      r.refuse("alwayson_scripts",
               fmt::format("alwayson_scripts: '{}' is not supported; leave it "
                           "out, or off with {{\"args\": [false]}}",
                           name.substr(0, 60)));
}

/// Reads the web UI's fields that are not supported, and accepts the values
/// with which they do nothing.
void read_what_is_not_there(field_reader& r) {
  const auto list = json::array();
  r.only("styles", {list});
  r.only("subseed_strength", {0});
  r.only("seed_resize_from_h", {-1, 0});
  r.only("seed_resize_from_w", {-1, 0});
  r.hint("a1111");
  r.only("tiling", {false});
  r.only("s_min_uncond", {0});
  r.only("s_churn", {0});
  r.only("s_tmin", {0});
  r.only("s_noise", {1});
  r.only("refiner_checkpoint", {"", "None"});
  r.only("enable_hr", {false});
  r.only("firstphase_width", {0});
  r.only("firstphase_height", {0});
  r.only("script_name", {"", "None"});
  read_scripts(r);
  r.only("latent_mask", {""});
  r.only("initial_noise_multiplier", {1});
}

/// Takes a side that the client left out from the model, as the web UI takes
/// its own default for each side.
void add_other_side(const api_context& with, generation& one) {
  const auto known = with.images->variants();
  const auto* const v = variant_for(known, one);
  if (v == nullptr || (one.width == 0) == (one.height == 0))
    return;
  one.width = one.width == 0 ? v->width : one.width;
  one.height = one.height == 0 ? v->height : one.height;
}

void read_eta(field_reader& r, const api_context& with, generation& into) {
  const auto eta = r.real("eta", 0, 1);
  if (!eta)
    return;
  const auto known = with.images->variants();
  const auto* const v = variant_for(known, into);
  const auto sampler =
    core::parse_sampler(into.sampler.value_or(v == nullptr ? "" : v->sampler));
  if (sampler && row_of(*sampler).has_eta)
    into.eta = static_cast<float>(*eta);
  else if (*eta != 0 && *eta != 1)
    r.refuse("eta",
             fmt::format("eta {} is supported only with {}", *eta,
                         core::list_samplers(&core::sampler_row::has_eta,
                                             &core::sampler_row::webui)));
}

/// Reads a prompt. In the web UI's syntax, a mark that names a network and a
/// weight that cannot be read are refused.
std::string read_prompt(field_reader& r, const char* name,
                        const core::limits& within, const generation& one) {
  auto text = r.text(name, within.prompt_bytes).value_or("");
  if (one.prompt_syntax == "plain" || one.emphasis == "off")
    return text;
  if (auto good = core::check_prompt(name, text); !good)
    r.refuse(name, good.why().text);
  return text;
}

/// Takes the options for prompts that were set before, where the call has none.
void take_prompt_options(const a1111_options& set, generation& into) {
  auto options = set.prompts;
  field_reader r{options};
  generation before;
  read_prompt_options(r, before);
  if (!into.clip_skip)
    into.clip_skip = before.clip_skip;
  if (!into.emphasis && into.prompt_syntax != "plain")
    into.emphasis = before.emphasis;
}

/// Lowers a scale above the model's range to the model's own scale: clients
/// send the web UI's default if the user chose none.
void bound_guidance(const api_context& with, generation& one) {
  const auto known = with.images->variants();
  const auto* const v = variant_for(known, one);
  if (v == nullptr || !v->most_guidance || !one.guidance
      || *one.guidance <= *v->most_guidance
      || one.notes.size() == core::most_notes)
    return;
  one.notes.push_back(
    {std::string{core::to_string(core::note_code::guidance)},
     fmt::format("cfg_scale {} is lowered to {}: above {} the model's images "
                 "get worse",
                 *one.guidance, v->guidance, *v->most_guidance)});
  one.guidance = v->guidance;
}

void read_common(field_reader& r, const a1111_options& set,
                 const api_context& with, a1111_call& call, generation& one) {
  const auto& limits = with.limits;
  one.prompt_syntax = "webui";
  one.seed = r.seed("seed");
  one.width = side(r, "width", limits);
  one.height = side(r, "height", limits);
  read_native_only(r, one);
  each_wanted([&](const core::parameter& x, auto at, auto member) {
    if (x.webui_field.empty() || x.webui_by_hand)
      return;
    if (const auto value =
          read_parameter(r, x, at, x.webui_field, x.least, limits))
      one.*member = *value;
  });
  if (const auto priority = r.choice("priority", {"low", "normal", "high"}))
    one.priority = *priority;
  if (const auto ms = r.whole("deadline_ms", 1, 86'400'000))
    one.deadline = std::chrono::milliseconds{*ms};
  one.format = set.samples_format;
  one.quality = set.jpeg_quality;
  choose_checkpoint(with.images->variants(), set.sd_model_checkpoint, one);
  read_a1111_sampler(r, one);
  take_prompt_options(set, one);
  read_overrides(r, set, with, call, one);
  add_other_side(with, one);
  settle_a1111_scheduler(r, with.images->variants(), one);
  one.prompt = read_prompt(r, "prompt", limits, one);
  one.negative = read_prompt(r, "negative_prompt", limits, one);
  read_eta(r, with, one);
  bound_guidance(with, one);
  read_what_is_not_there(r);
  note_ignored_fields(r.notes(), one);
  call.quality = one.quality;
  call.send_images = r.flag("send_images").value_or(true);
  call.job.id = r.text("force_task_id", 128).value_or("");
}

/// Reads the one image that a call starts from.
std::vector<uint8_t> read_init_image(field_reader& r,
                                     const core::limits& within) {
  const auto all = r.take("init_images");
  if (all.is_null() || (all.is_array() && all.empty())) {
    r.refuse("init_images", "init_images is missing");
    return {};
  }
  if (!all.is_array() || all.size() != 1 || !all.front().is_string()) {
    r.refuse(
      "init_images",
      fmt::format("init_images {} is not a list of one image", shown(all)));
    return {};
  }
  auto file =
    from_image_text("init_images", all.front().get_ref<const std::string&>(),
                    within.source_bytes);
  if (file)
    return std::move(*file);
  r.refuse("init_images", file.why().text, file.why().code);
  return {};
}

/// Reads a flag that some clients send as 0 or 1.
bool loose_flag(field_reader& r, const char* name, bool otherwise) {
  const auto* const x = r.find(name);
  if (x != nullptr && x->is_number())
    return r.whole(name, 0, 1).value_or(0) == 1;
  return r.flag(name).value_or(otherwise);
}

/// Returns the size of the client's image; 0x0: that of `one`.
core::extent read_source(field_reader& r, const api_context& with,
                         a1111_call& call, generation& one) {
  constexpr double most_blur = 64;
  inpaint_plan plan;
  plan.image = read_init_image(r, with.limits);
  // The web UI treats an empty text as no mask.
  if (const auto* mask = r.find("mask"); mask != nullptr && *mask != "")
    plan.mask = r.file("mask", with.limits.source_bytes);
  plan.px = {one.width, one.height};
  if (const auto* mode = r.find("resize_mode"); mode != nullptr && *mode == 3)
    r.refuse("resize_mode", "resize_mode 3 (latent upscale) is not supported; "
                            "it can be 0 (stretch), 1 (crop) or 2 (fill)");
  plan.resize =
    static_cast<resize_mode>(r.whole("resize_mode", 0, 2).value_or(0));
  plan.invert = loose_flag(r, "inpainting_mask_invert", false);
  const auto both = r.real("mask_blur", 0, most_blur);
  plan.blur_x = r.real("mask_blur_x", 0, most_blur).value_or(4);
  plan.blur_y = r.real("mask_blur_y", 0, most_blur).value_or(4);
  if (both)
    plan.blur_x = plan.blur_y = *both;
  if (const auto* fill = r.find("inpainting_fill");
      fill != nullptr && (*fill == 2 || *fill == 3))
    r.refuse("inpainting_fill",
             fmt::format(
               "inpainting_fill {} ({}) is not supported; it can be 0 "
               "(fill) or 1 (original)",
               shown(*fill), *fill == 2 ? "latent noise" : "latent nothing"));
  plan.keeps_original = r.whole("inpainting_fill", 0, 1).value_or(0) == 1;
  plan.only_masked = loose_flag(r, "inpaint_full_res", true);
  plan.padding = static_cast<uint32_t>(
    r.whole("inpaint_full_res_padding", 0, with.limits.side_px).value_or(0));
  one.strength_rule =
    r.choice("strength_rule", core::strength_rule_names).value_or("webui");
  // At least one step runs, as in the web UI.
  constexpr double least_strength = 0.001;
  one.strength = static_cast<float>(std::max(
    least_strength, r.real("denoising_strength", 0, 1).value_or(0.75)));
  if (!r.good())
    return {};
  if (plan.mask.empty() && plan.resize == resize_mode::stretch) {
    // The engine scales the image in the same way.
    one.image = std::move(plan.image);
    return {};
  }
  const decode_time time{with};
  const auto px = prepare(plan, with.limits, one, time.is_over());
  if (!px) {
    r.refuse(px.why().text.starts_with("mask") ? "mask" : "init_images",
             time.text_of(px.why()), px.why().code);
    return {};
  }
  if (!plan.mask.empty())
    call.plan = std::make_shared<const inpaint_plan>(std::move(plan));
  return *px;
}

/// Adds the fields that the client left out, as the web UI does: with the
/// values of this call.
void add_defaults(json& echo, const generation& one, const api_context& with,
                  a1111_kind kind) {
  const auto known = with.images->variants();
  const auto* const v = variant_for(known, one);
  const variant_status own = v == nullptr ? variant_status{} : *v;
  const auto sampler = core::parse_sampler(one.sampler.value_or(own.sampler));
  json all{
    {"prompt", one.prompt},
    {"negative_prompt", one.negative},
    {"styles", json::array()},
    {"seed", one.seed_drawn || !one.seed ? json(-1) : json(*one.seed)},
    {"subseed", -1},
    {"subseed_strength", 0},
    {"seed_resize_from_h", -1},
    {"seed_resize_from_w", -1},
    {"sampler_name", sampler ? core::webui_name(*sampler) : std::string_view{}},
    {"scheduler",
     one.karras.value_or(!one.sampler && own.karras) ? "Karras" : "Automatic"},
    {"batch_size", 1},
    {"n_iter", 1},
    {"steps", one.steps.value_or(own.steps)},
    {"cfg_scale", one.guidance.value_or(own.guidance)},
    {"width", one.width == 0 ? own.width : one.width},
    {"height", one.height == 0 ? own.height : one.height},
    {"restore_faces", false},
    {"tiling", false},
    {"enable_hr", false},
    {"override_settings", json::object()},
    {"override_settings_restore_afterwards", true},
    {"script_args", json::array()},
    {"alwayson_scripts", json::object()},
    {"send_images", true},
    {"save_images", false}};
  if (kind == a1111_kind::img2img)
    all["denoising_strength"] = one.strength.value_or(0.75f);
  for (const auto& [name, value] : all.items())
    if (const auto i = echo.find(name); i == echo.end() || i->is_null())
      echo[name] = value;
}

} // namespace

void read_prompt_options(field_reader& r, generation& into) {
  if (const auto layers = r.whole(a1111_prompt_options[0], 1, 12))
    into.clip_skip = static_cast<uint32_t>(*layers);
  const auto& rules = core::emphasis_rule_webui_names;
  if (const auto rule = r.choice(a1111_prompt_options[1], rules)) {
    const auto at = std::ranges::find(rules, *rule) - rules.begin();
    into.emphasis = core::emphasis_rule_names[static_cast<size_t>(at)];
  }
}

bool choose_checkpoint(const std::vector<variant_status>& known,
                       const std::string& name, generation& into) {
  for (const auto& v : known) {
    if (v.model != name && v.name != name)
      continue;
    into.model.reset();
    into.variant.reset();
    (v.model == name ? into.model : into.variant) = name;
    return true;
  }
  return false;
}

std::variant<a1111_call, reply_message> read_a1111_call(
  exchange& x, a1111_kind kind, const a1111_options& set,
  const api_context& with) {
  const auto& asked = x.asked();
  a1111_call call;
  if (auto faulty = read_idempotency_key(asked, shape, call.job))
    return std::move(*faulty);
  if (!call.job.idempotency_key.empty())
    call.job.fingerprint = fingerprint_of(asked);
  auto object = parse_object(asked.body);
  if (!object)
    return error_reply(shape, 400, core::to_string(object.why().code),
                       object.why().text);
  x.drop_body();
  if (const auto i = object->find("infotext");
      i != object->end() && i->is_string()) {
    const auto text = i->get<std::string>();
    if (text.size() > image::most_text_bytes)
      return error_reply(shape, 400, "invalid_argument",
                         fmt::format("infotext has {} bytes, outside 0..{}",
                                     text.size(), image::most_text_bytes),
                         "infotext");
    add_infotext(*object, text);
  }
  // The web UI takes numbers and flags as texts, too.
  field_reader r{*object, field_reader::from::form};
  generation one;
  read_common(r, set, with, call, one);
  core::extent answer;
  if (kind == a1111_kind::img2img)
    answer = read_source(r, with, call, one);
  const int64_t most = with.images_of_call;
  const auto batch = r.whole("batch_size", 1, most).value_or(1);
  const auto rounds = r.whole("n_iter", 1, most).value_or(1);
  if (batch * rounds > most)
    r.refuse("batch_size", fmt::format("batch_size {} times n_iter {} is more "
                                       "than {} images",
                                       batch, rounds, most));
  r.bound_all_but(
    {"prompt", "negative_prompt", "infotext", "init_images", "mask"});
  if (r.good() && set.live_previews_enable)
    one.preview_every =
      std::min(set.show_progress_every_n_steps,
               std::max(1u, steps_that_run(with.images->variants(), one) / 4));
  if (r.good())
    call.job.images = spread(r, with, std::move(one),
                             static_cast<uint32_t>(batch * rounds), answer);
  if (!r.good())
    return fault_reply(shape, r.why());
  call.batch_size = static_cast<uint32_t>(batch);
  call.job.kind = kind == a1111_kind::txt2img ? "txt2img" : "img2img";
  call.job.owner = asked.key;
  call.job.trace = asked.trace;
  call.job.request_id = asked.request_id;
  object->erase("init_images");
  object->erase("mask");
  call.echo = std::move(*object);
  add_defaults(call.echo, call.job.images.front(), with, kind);
  return call;
}

} // namespace atelier::runtime::http::detail
