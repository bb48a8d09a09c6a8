// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/models/bert/detail/bert_names.hpp>
#include <atelier/gpu/models/files/tensor_collection.hpp>

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace atelier::gpu::detail {

namespace {

constexpr std::string_view model_prefix = "bert.";
constexpr std::string_view position_numbers = "embeddings.position_ids";

bool is_left_out(std::string_view name) {
  return name.starts_with("pooler.") || name.starts_with("cls.")
      || name == position_numbers;
}

std::string today(std::string name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> ends{
    {{".LayerNorm.gamma", ".LayerNorm.weight"},
     {".LayerNorm.beta", ".LayerNorm.bias"}}};
  for (const auto& [old, fresh] : ends)
    if (name.ends_with(old))
      return name.replace(name.size() - old.size(), old.size(), fresh);
  return name;
}

} // namespace

std::shared_ptr<const tensor_source> name_bert_text(
  std::shared_ptr<const tensor_source> from) {
  auto out = std::make_shared<tensor_collection>(from->where());
  for (const auto& name : from->names()) {
    std::string_view inner = name;
    if (inner.starts_with(model_prefix))
      inner.remove_prefix(model_prefix.size());
    if (is_left_out(inner))
      continue;
    // A second tensor of a name stays under its own and is refused as unknown.
    if (!out->add(today(std::string{inner}), *from->find(name)))
      out->add(name, *from->find(name));
  }
  out->keep(std::move(from));
  return out;
}

} // namespace atelier::gpu::detail
