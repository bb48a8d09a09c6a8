// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace atelier::runtime::cli {

/// The variants that are measured without --variants, as far as they are
/// available.
inline constexpr auto default_evaluated_variants =
  "base@50,base@20,base@8,small@50,tiny@50,turbo@4";

/// The variants whose runs are reused without --variants, with --cache.
inline constexpr auto default_reused_variants = "base@50,base@20";

/// The arguments of `evaluate --cache`, as they were written.
struct evaluate_reuse_arguments {
  bool cache = false;
  std::optional<std::string> warm;
  std::optional<std::string> measured;
  std::optional<std::string> systems;
  std::optional<std::string> texts;
  std::optional<std::string> small;
  std::optional<std::string> turbo;
  std::optional<std::string> size;
};

/// The arguments of `evaluate`, as they were written.
struct evaluate_arguments {
  std::optional<std::string> models;
  std::optional<std::string> variants;
  std::optional<std::string> guidances;
  std::optional<std::string> samplers;
  std::optional<std::string> captions;
  std::optional<std::string> starts;
  std::optional<std::string> batch;
  std::optional<std::string> seed;
  std::optional<std::string> device;
  std::optional<std::string> threads;
  std::optional<std::string> output;
  bool force = false;
  evaluate_reuse_arguments reuse;
};

CLI::App* add_evaluate(CLI::App& app, evaluate_arguments& into);

} // namespace atelier::runtime::cli
