// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/guarded.hpp>
#include <atelier/gpu/models/catalog/expected_tensors.hpp>
#include <atelier/gpu/models/clip/clip_text_config.hpp>
#include <atelier/gpu/models/family.hpp>
#include <atelier/gpu/models/files/printable.hpp>
#include <atelier/gpu/models/files/tensor_table.hpp>
#include <atelier/gpu/models/vae/autoencoder_config.hpp>

#include <fmt/ranges.h>

namespace atelier::gpu::detail {

namespace {

using core::ec;

/// Reads the configuration as the network does, and adds its tensors.
core::result<void> expect(const component& x, tensor_table& to) {
  if (const auto* of = find_denoiser(x.class_name)) {
    return core::guarded("family", of->name, "expect",
                         [&] { return of->expect(x, to); });
  } else if (x.class_name.starts_with("Autoencoder")) {
    const auto config = read_autoencoder_config(x);
    if (!config)
      return config.why();
    expect_autoencoder(*config, to);
  } else if (x.class_name.starts_with("CLIPText")) {
    const auto config = read_clip_text_config(x);
    if (!config)
      return config.why();
    expect_clip_text(*config, to);
  } else {
    return core::fail(ec::bad_config, "{}: _class_name: {} is not known here",
                      x.config_file, printable(x.class_name));
  }
  return {};
}

/// Returns the name of a text encoder's tensor with its prefix, which
/// transformers 5 omits for CLIPTextModel.
std::string with_prefix(const std::string& name) {
  return name.starts_with("embeddings.") || name.starts_with("encoder.layers.")
          || name.starts_with("final_layer_norm.")
         ? "text_model." + name
         : name;
}

} // namespace

core::result<expected_tensors> expect_tensors(const component& x, size_t most) {
  tensor_table out{most, {}};
  if (auto known = expect(x, out); !known)
    return known.why();
  if (out.full())
    return core::fail(ec::bad_config,
                      "{}: its numbers require more than {} "
                      "tensors",
                      x.config_file, most);
  return std::move(out.tensors);
}

core::result<std::vector<std::string>> compare_tensors(const component& x) {
  // Leaves room to name some missing tensors, in proportion to the existing
  // ones.
  constexpr size_t spare = 1000;
  const auto names = x.weights->names();
  auto expected = expect_tensors(x, names.size() + spare);
  if (!expected)
    return expected.why();
  const bool text = x.class_name.starts_with("CLIPText");
  const auto where = x.weights->where();
  std::vector<std::string> out;
  for (const auto& name : names) {
    const auto known = text ? with_prefix(name) : name;
    // Older files store the position ids; a projection remains if a model with
    // one was reduced to one without.
    if (known == "text_model.embeddings.position_ids"
        || (known == "text_projection.weight"
            && x.class_name == "CLIPTextModel"))
      continue;
    const auto i = expected->find(known);
    if (i == expected->end()) {
      out.push_back(fmt::format("{}: tensor {} has no place in a {} of that "
                                "configuration",
                                where, printable(name), x.class_name));
      continue;
    }
    const auto view = *x.weights->find(name);
    if (view.shape != i->second)
      out.push_back(fmt::format("{}: tensor {} has shape [{}], not [{}]", where,
                                name, fmt::join(view.shape, ", "),
                                fmt::join(i->second, ", ")));
    if (!is_floating(view.type))
      out.push_back(fmt::format("{}: tensor {} is of type {}, not "
                                "floating-point",
                                where, name, to_string(view.type)));
    expected->erase(i);
  }
  for (const auto& [name, shape] : *expected)
    out.push_back(fmt::format("{}: tensor {} is missing", where, name));
  return out;
}

core::result<void> check_network(const component& x) {
  const auto faults = compare_tensors(x);
  if (!faults)
    return faults.why();
  if (faults->empty())
    return {};
  return core::fail(core::ec::bad_payload, "{}{}", faults->front(),
                    faults->size() == 1 ? ""
                                        : fmt::format(" (and {} more faults)",
                                                      faults->size() - 1));
}

} // namespace atelier::gpu::detail
