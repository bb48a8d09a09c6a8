// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/image/parameters.hpp>
#include <atelier/core/samplers.hpp>
#include <atelier/runtime/http/detail/a1111/foreign_infotext.hpp>
#include <atelier/runtime/http/detail/field_reader.hpp>

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace atelier::runtime::http::detail {

namespace {

using text_list = std::span<const std::pair<std::string, std::string>>;

/// Links that are followed from a node of a graph to a prompt.
constexpr int most_links = 16;

std::string_view text_named(text_list all, std::string_view name) {
  const auto i =
    std::ranges::find(all, name, &std::pair<std::string, std::string>::first);
  return i == all.end() ? std::string_view{} : std::string_view{i->second};
}

/// Returns the member with one of those names; null if there is none.
const json* member_of(const json& of,
                      std::initializer_list<const char*> names) {
  if (of.is_object())
    for (const auto* name : names)
      if (const auto i = of.find(name); i != of.end() && !i->is_null())
        return &*i;
  return nullptr;
}

std::string text_in(const json* x) {
  return x != nullptr && x->is_string() ? x->get<std::string>() : "";
}

void add_field(image::parameters& to, const char* name, const json* x) {
  if (x != nullptr && x->is_primitive() && !x->is_null())
    to.fields.emplace_back(name,
                           x->is_string() ? x->get<std::string>() : x->dump());
}

void add_size(image::parameters& to, const json* width, const json* height) {
  if (width != nullptr && height != nullptr && width->is_number_unsigned()
      && height->is_number_unsigned())
    to.fields.emplace_back("Size", width->dump() + "x" + height->dump());
}

/// Returns the web UI's name of a sampler, or the name itself if there is no
/// such sampler here.
std::string sampler_label(std::string name) {
  if (name.starts_with("k_"))
    name = name.substr(2);
  const auto x = core::parse_sampler(name);
  return x ? std::string{core::webui_name(*x)} : name;
}

/// Source: modules/images.py, read_info_from_image, of the web UI.
std::string novelai_text(text_list all) {
  const auto comment = parse_object(text_named(all, "Comment"));
  if (!comment)
    return {};
  image::parameters out;
  out.prompt = text_named(all, "Description");
  out.negative = text_in(member_of(*comment, {"uc"}));
  add_field(out, "Steps", member_of(*comment, {"steps"}));
  if (const auto name = text_in(member_of(*comment, {"sampler"}));
      !name.empty())
    out.fields.emplace_back("Sampler", sampler_label(name));
  add_field(out, "CFG scale", member_of(*comment, {"scale"}));
  add_field(out, "Seed", member_of(*comment, {"seed"}));
  add_size(out, member_of(*comment, {"width"}),
           member_of(*comment, {"height"}));
  return to_text(out);
}

/// Returns the inputs of the node that a link, [ID, output], leads to; null if
/// it leads to none.
const json* inputs_behind(const json& graph, const json* link) {
  if (link == nullptr || !link->is_array() || link->empty()
      || !link->front().is_string())
    return nullptr;
  const auto node = graph.find(link->front().get<std::string>());
  return node == graph.end() ? nullptr : member_of(*node, {"inputs"});
}

/// Returns the text of the first node with a text behind a link.
std::string prompt_behind(const json& graph, const json* link) {
  for (int i = 0; i < most_links; ++i) {
    const auto* const inputs = inputs_behind(graph, link);
    if (inputs == nullptr)
      return {};
    link = member_of(*inputs, {"text", "text_g", "conditioning",
                               "conditioning_1", "positive", "string"});
    if (link != nullptr && link->is_string())
      return link->get<std::string>();
  }
  return {};
}

std::string comfyui_text(const json& graph) {
  for (const auto& node : graph) {
    const auto* const inputs = member_of(node, {"inputs"});
    if (inputs == nullptr
        || !text_in(member_of(node, {"class_type"})).starts_with("KSampler"))
      continue;
    image::parameters out;
    out.prompt = prompt_behind(graph, member_of(*inputs, {"positive"}));
    out.negative = prompt_behind(graph, member_of(*inputs, {"negative"}));
    add_field(out, "Steps", member_of(*inputs, {"steps"}));
    if (const auto name = text_in(member_of(*inputs, {"sampler_name"}));
        !name.empty())
      out.fields.emplace_back("Sampler", sampler_label(name));
    auto schedule = text_in(member_of(*inputs, {"scheduler"}));
    if (schedule == "karras")
      schedule = "Karras";
    if (!schedule.empty())
      out.fields.emplace_back("Schedule type", schedule);
    add_field(out, "CFG scale", member_of(*inputs, {"cfg"}));
    add_field(out, "Seed", member_of(*inputs, {"seed", "noise_seed"}));
    if (const auto* latent =
          inputs_behind(graph, member_of(*inputs, {"latent_image"})))
      add_size(out, member_of(*latent, {"width"}),
               member_of(*latent, {"height"}));
    if (const auto* model = inputs_behind(graph, member_of(*inputs, {"model"})))
      add_field(out, "Model", member_of(*model, {"ckpt_name", "unet_name"}));
    return to_text(out);
  }
  return {};
}

} // namespace

std::string foreign_infotext(text_list all) {
  if (text_named(all, "Software") == "NovelAI")
    return novelai_text(all);
  if (const auto graph = parse_object(text_named(all, "prompt")))
    return comfyui_text(*graph);
  return {};
}

} // namespace atelier::runtime::http::detail
