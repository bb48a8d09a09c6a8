// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/files/name_parts.hpp>
#include <atelier/gpu/models/files/tensor_collection.hpp>
#include <atelier/gpu/models/unet/detail/unet_names.hpp>

#include <fmt/format.h>

#include <array>
#include <map>

namespace atelier::gpu::detail {

namespace {

constexpr std::array end_rules = {
  name_rule{"time_embed.0", "time_embedding.linear_1"},
  name_rule{"time_embed.2", "time_embedding.linear_2"},
  name_rule{"time_embed.cond_proj", "time_embedding.cond_proj"},
  name_rule{"label_emb.0.0", "add_embedding.linear_1"},
  name_rule{"label_emb.0.2", "add_embedding.linear_2"},
  name_rule{"input_blocks.0.0", "conv_in"},
  name_rule{"out.0", "conv_norm_out"},
  name_rule{"out.2", "conv_out"},
};

constexpr std::array resnet_rules = {
  name_rule{"in_layers.0", "norm1"},
  name_rule{"in_layers.2", "conv1"},
  name_rule{"emb_layers.1", "time_emb_proj"},
  name_rule{"out_layers.0", "norm2"},
  name_rule{"out_layers.3", "conv2"},
  name_rule{"skip_connection", "conv_shortcut"},
};

constexpr std::array downsampler_rules = {name_rule{"op", "conv"}};
constexpr std::array upsampler_rules = {name_rule{"conv", "conv"}};

enum class module_kind { resnet, attention, downsampler, upsampler };

/// One module of the original layout, and its place in the new one.
struct module_place {
  module_kind kind;
  std::string name;
};

/// Maps modules between the layouts. The original layout numbers modules
/// consecutively; the new one numbers them by levels.
class module_table {
public:
  module_table(const std::vector<std::string>& sorted_names,
               std::string_view prefix)
    : names_(sorted_names), prefix_(prefix) {
    walk_down();
    walk_middle();
    walk_up();
  }

  /// Returns the place of a module such as "input_blocks.1.0".
  const module_place* find(const std::string& module) const {
    const auto i = places_.find(module);
    return i == places_.end() ? nullptr : &i->second;
  }

private:
  bool has(const std::string& name) const {
    return has_prefix(names_, fmt::format("{}{}", prefix_, name));
  }

  std::optional<module_kind> kind_of(const std::string& module) const {
    if (has(module + ".in_layers."))
      return module_kind::resnet;
    if (has(module + ".transformer_blocks."))
      return module_kind::attention;
    if (has(module + ".op."))
      return module_kind::downsampler;
    if (has(module + ".conv."))
      return module_kind::upsampler;
    return std::nullopt;
  }

  /// Places the modules of block `row`.`block` in the level's block `to`.
  /// Returns whether one of them changes the size, which ends the level.
  bool place(std::string_view row, size_t block, const std::string& to,
             size_t& resnets, size_t& attentions) {
    bool resized = false;
    // Layers are counted by their resnets: if one has no attention and a later
    // one has, the numbers of the attentions differ.
    for (size_t i = 0; i < 3; ++i) {
      const auto module = fmt::format("{}.{}.{}", row, block, i);
      const auto kind = kind_of(module);
      if (!kind)
        break;
      std::string name;
      switch (*kind) {
        case module_kind::resnet:
          name = fmt::format("{}.resnets.{}", to, resnets++);
          break;
        case module_kind::attention:
          name = fmt::format("{}.attentions.{}", to, attentions++);
          break;
        case module_kind::downsampler:
          name = to + ".downsamplers.0";
          resized = true;
          break;
        case module_kind::upsampler:
          name = to + ".upsamplers.0";
          resized = true;
          break;
      }
      places_.emplace(module, module_place{*kind, std::move(name)});
    }
    return resized;
  }

  void walk_row(std::string_view row, size_t first, std::string_view to) {
    size_t level = 0;
    size_t resnets = 0;
    size_t attentions = 0;
    for (auto block = first; has(fmt::format("{}.{}.", row, block)); ++block)
      if (place(row, block, fmt::format("{}.{}", to, level), resnets,
                attentions)) {
        ++level;
        resnets = 0;
        attentions = 0;
      }
  }

  void walk_down() {
    // Block 0 is the first convolution.
    walk_row("input_blocks", 1, "down_blocks");
  }

  void walk_up() {
    walk_row("output_blocks", 0, "up_blocks");
  }

  void walk_middle() {
    size_t resnets = 0;
    size_t attentions = 0;
    for (size_t i = 0;; ++i) {
      const auto module = fmt::format("middle_block.{}", i);
      const auto kind = kind_of(module);
      if (kind == module_kind::resnet)
        places_.emplace(
          module,
          module_place{*kind, fmt::format("mid_block.resnets.{}", resnets++)});
      else if (kind == module_kind::attention)
        places_.emplace(
          module, module_place{*kind, fmt::format("mid_block.attentions.{}",
                                                  attentions++)});
      else
        break;
    }
  }

  const std::vector<std::string>& names_;
  std::string_view prefix_;
  std::map<std::string, module_place, std::less<>> places_;
};

std::optional<std::string> name_in_module(module_kind kind,
                                          std::string_view name) {
  switch (kind) {
    case module_kind::resnet:
      return apply_rule(resnet_rules, name);
    case module_kind::attention:
      return std::string{name};
    case module_kind::downsampler:
      return apply_rule(downsampler_rules, name);
    case module_kind::upsampler:
      return apply_rule(upsampler_rules, name);
  }
  return std::nullopt;
}

std::optional<std::string> new_name(const module_table& modules,
                                    std::string_view name) {
  if (auto end = apply_rule(end_rules, name))
    return end;
  auto rest = name;
  const auto row = take_word(rest);
  std::string module{row};
  for (int words = row == "middle_block" ? 1 : 2; words > 0; --words)
    module += fmt::format(".{}", take_word(rest));
  const auto* place = modules.find(module);
  if (place == nullptr)
    return std::nullopt;
  auto inner = name_in_module(place->kind, rest);
  if (inner)
    inner->insert(0, place->name + '.');
  return inner;
}

} // namespace

std::shared_ptr<const tensor_source> name_original_unet(
  const std::shared_ptr<const tensor_source>& from, std::string_view prefix,
  std::vector<std::string>& left_over) {
  auto out = std::make_shared<tensor_collection>(from->where());
  out->keep(from);
  const auto names = from->names();
  const module_table modules{names, prefix};
  for (const auto& name : names) {
    if (!name.starts_with(prefix))
      continue;
    auto fresh =
      new_name(modules, std::string_view{name}.substr(prefix.size()));
    if (!fresh || !out->add(std::move(*fresh), *from->find(name)))
      left_over.push_back(name);
  }
  return out;
}

} // namespace atelier::gpu::detail
