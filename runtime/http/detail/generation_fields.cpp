// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/image/codec.hpp>
#include <atelier/core/note.hpp>
#include <atelier/core/request.hpp>
#include <atelier/runtime/http/detail/a1111/inpaint.hpp>
#include <atelier/runtime/http/detail/generation_fields.hpp>
#include <atelier/runtime/http/detail/parameter_fields.hpp>
#include <atelier/runtime/several_images.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <type_traits>

namespace atelier::runtime::http::detail {

namespace {

using core::ec;

/// Reads each parameter under all its names; its own counts before the others.
void read_parameters(field_reader& r, const core::limits& within,
                     generation& into) {
  each_wanted([&](const core::parameter& x, auto at, auto member) {
    const auto read = [&](std::string_view name, double least) {
      return name.empty() ? std::nullopt
                          : read_parameter(r, x, at, name, least, within);
    };
    using value = std::remove_cvref_t<decltype(*read(x.name, x.least))>;
    const auto take = [&](const std::optional<value>& said) {
      if (said)
        into.*member = *said;
    };
    take(read(x.also, x.least));
    if (const auto said = read(x.localai, 0); said != value{})
      take(said);
    take(read(x.name, x.least));
  });
}

/// Returns the number that `text` is; 0 where it is none.
uint32_t side_of(std::string_view text) {
  uint32_t side = 0;
  const auto [end, fault] =
    std::from_chars(text.data(), text.data() + text.size(), side);
  return fault == std::errc{} && end == text.data() + text.size() ? side : 0;
}

template <class T, class Value>
void take(std::optional<T>& into, const std::optional<Value>& value) {
  if (value)
    into = static_cast<T>(*value);
}

void take(std::string& into, std::optional<std::string> value) {
  if (value)
    into = std::move(*value);
}

void read_sides(field_reader& r, const api_context& with, generation& into) {
  const auto most = static_cast<int64_t>(with.limits.side_px);
  const auto width = r.whole("width", core::grid_px, most);
  const auto height = r.whole("height", core::grid_px, most);
  if (!width && !height)
    return;
  if (!width || !height) {
    r.refuse(width ? "height" : "width", "width and height need each other");
    return;
  }
  const auto w = static_cast<uint32_t>(*width);
  const auto h = static_cast<uint32_t>(*height);
  if (into.width != 0 && (into.width != w || into.height != h)) {
    r.refuse("size", fmt::format("size {}x{} is not that of width {} and "
                                 "height {}",
                                 into.width, into.height, w, h));
    return;
  }
  into.width = w;
  into.height = h;
}

/// Returns the size that an image will have, as far as it is known; 0x0: not
/// at all.
core::extent answer_size(const api_context& with, const generation& wanted) {
  if (wanted.width > 0)
    return {wanted.width, wanted.height};
  if (!wanted.image.empty()) {
    const auto head = image::read_header(wanted.image);
    return head ? own_size(head->upright_px(), with.limits) : core::extent{};
  }
  const auto known = with.images->variants();
  const auto* const v = variant_for(known, wanted);
  return v == nullptr ? core::extent{} : core::extent{v->width, v->height};
}

} // namespace

bool is_openai_name(std::string_view model) {
  return model.empty() || model == "default" || model == "dall-e-2"
      || model == "dall-e-3" || model.starts_with("gpt-image-")
      || model == "chatgpt-image-latest";
}

void note_ignored_fields(const std::vector<std::string>& texts,
                         generation& into) {
  for (const auto& text : texts)
    if (into.notes.size() < core::most_notes)
      into.notes.push_back(
        {std::string{core::to_string(core::note_code::field_ignored)}, text});
}

void read_size(field_reader& r, const api_context& with, generation& into) {
  const auto text = r.text("size", 64);
  if (!text || text->empty() || *text == "auto")
    return;
  const auto cross = std::min(text->find_first_of("xX"), text->size());
  const auto width = side_of(std::string_view{*text}.substr(0, cross));
  const auto height = cross == text->size()
                      ? 0
                      : side_of(std::string_view{*text}.substr(cross + 1));
  const auto fits = [&](uint32_t side) {
    return side > 0 && side % core::grid_px == 0 && side <= with.limits.side_px;
  };
  if (!fits(width) || !fits(height)
      || uint64_t{width} * height > with.limits.picture_px) {
    r.refuse("size", fmt::format("size {} is neither auto nor WIDTHxHEIGHT in "
                                 "multiples of {} pixels up to {}, {} in all",
                                 shown(json(*text)), core::grid_px,
                                 with.limits.side_px, with.limits.picture_px));
    return;
  }
  into.width = width;
  into.height = height;
}

void read_native_only(field_reader& r, generation& into) {
  constexpr const char* name = "native_only";
  const auto* const x = r.find(name);
  if (x == nullptr)
    return;
  if (x->is_string() && (*x == "on" || *x == "off"))
    into.native_only = *x == "on";
  else
    take(into.native_only, r.flag(name));
}

void read_model(field_reader& r, const api_context& with, generation& into) {
  const auto name = r.text("model", 256);
  if (!name || is_openai_name(*name))
    return;
  std::string all;
  const auto known = with.images->variants();
  if (known.empty()) {
    // No model is known before the engine has started, so that the submission
    // must say whether this one is.
    into.model = *name;
    return;
  }
  for (const auto& v : known) {
    if (v.model == *name) {
      into.model = *name;
      return;
    }
    if (v.name == *name) {
      into.variant = *name;
      return;
    }
    if (all.find("'" + v.model + "'") == std::string::npos)
      all += (all.empty() ? "'" : ", '") + v.model + "'";
  }
  r.refuse(
    "model",
    fmt::format("model not found: {} (available: {})", shown(json(*name)), all),
    ec::not_found);
}

void read_generation(field_reader& r, const api_context& with,
                     generation& into) {
  const auto& limits = with.limits;
  const int64_t most_steps = limits.steps;
  take(into.prompt, r.text("prompt", limits.prompt_bytes));
  take(into.negative, r.text("negative_prompt", limits.prompt_bytes));
  read_size(r, with, into);
  read_sides(r, with, into);
  read_native_only(r, into);
  take(into.seed, r.seed("seed"));
  read_parameters(r, limits, into);
  read_model(r, with, into);
  if (auto variant = r.text("variant", 256))
    into.variant = std::move(*variant);
  take(into.priority, r.choice("priority", {"low", "normal", "high"}));
  constexpr int64_t day_ms = 86'400'000;
  if (const auto ms = r.whole("deadline_ms", 1, day_ms))
    into.deadline = std::chrono::milliseconds{*ms};
  if (const auto every = r.whole("preview_every", 0, most_steps))
    into.preview_every = static_cast<uint32_t>(*every);
  r.only("policy", {"auto", "default"});
  r.only("level", {0});
}

const variant_status* variant_for(const std::vector<variant_status>& known,
                                  const generation& wanted) {
  const auto i = std::find_if(known.begin(), known.end(), [&](const auto& v) {
    return wanted.variant ? v.name == *wanted.variant
         : wanted.model   ? v.model == *wanted.model
                          : true;
  });
  return i == known.end() ? nullptr : &*i;
}

uint32_t steps_that_run(const std::vector<variant_status>& known,
                        const generation& wanted) {
  const auto* const v = variant_for(known, wanted);
  const auto steps = wanted.steps.value_or(v == nullptr ? 1 : v->steps);
  if (wanted.image.empty())
    return std::max(steps, 1u);
  const auto sampler = core::parse_sampler(
    wanted.sampler.value_or(v == nullptr ? "" : v->sampler));
  const auto share =
    wanted.strength.value_or(wanted.mask.empty() ? 0.8f : 1.0f);
  const auto rule = core::parse_name<core::strength_rule>(wanted.strength_rule);
  return std::max(
    core::steps_of_share(sampler.value_or(core::sampler::ddim), steps, share,
                         rule.value_or(core::strength_rule::diffusers),
                         v != nullptr && v->lcm_leaves_out
                           ? core::share_steps::cut
                           : core::share_steps::spread),
    1u);
}

std::vector<generation> spread(field_reader& r, const api_context& with,
                               generation one, uint32_t n,
                               core::extent answer) {
  if (answer == core::extent{})
    answer = answer_size(with, one);
  if (answer.pixels() * n > with.answer_px) {
    r.refuse("n", fmt::format("n {} of {}x{} pixels is more than {} pixels in "
                              "one answer (http.answer_mpx)",
                              n, answer.width, answer.height, with.answer_px));
    return {};
  }
  const auto files = uint64_t{one.image.size()} + one.mask.size();
  if (files * n > with.limits.sources_bytes) {
    r.refuse("n", fmt::format("n {} of {} bytes of images are more than {} "
                              "bytes",
                              n, files, with.limits.sources_bytes));
    return {};
  }
  // 32 bits, which every other program that draws by seed takes too.
  if (!one.seed) {
    one.seed = with.draw() & UINT32_MAX;
    one.seed_drawn = true;
  }
  std::vector<generation> all(n, one);
  for (uint32_t i = 0; i < n; ++i) {
    all[i].seed = *one.seed + i;
    if (i > 0)
      start_from_noise(all[i]);
  }
  return all;
}

} // namespace atelier::runtime::http::detail
