// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/choices.hpp>

#include <algorithm>
#include <type_traits>

namespace atelier::runtime::cli {

namespace {

constexpr std::string_view generators[] = {"torch", "philox"};
constexpr std::string_view formats[] = {"png", "jpeg", "webp"};
constexpr std::string_view priorities[] = {"low", "normal", "high"};
constexpr std::string_view process_modes[] = {"single", "split"};
constexpr std::string_view batchings[] = {"policy", "step", "whole_batch",
                                          "single"};
constexpr std::string_view benches[] = {"serve"};
constexpr std::string_view cache_verbs[] = {"verify", "stats", "clear", "warm"};
constexpr std::string_view jobs_verbs[] = {"list", "cancel"};
constexpr std::string_view levels[] = {"trace", "debug", "info",
                                       "warn",  "error", "off"};
constexpr std::string_view number_types[] = {"float32", "float16", "bfloat16"};
constexpr std::string_view predictions[] = {"epsilon", "v_prediction",
                                            "sample"};
constexpr std::string_view link_targets[] = {"inside", "anywhere"};
constexpr std::string_view model_verbs[] = {"list", "show", "import", "check"};
constexpr std::string_view parts[] = {
  "vae",   "text",   "base",          "small",      "tiny",
  "turbo", "scorer", "discriminator", "classifier", "preview",
  "all",   "export", "import"};
constexpr std::string_view shells[] = {"bash", "zsh", "fish"};

constexpr std::string_view switches[] = {"on", "off"};

struct entry {
  std::string_view name;
  std::span<const std::string_view> words;
};

constexpr entry table[] = {
  {"--rng", generators},      {"--format", formats},
  {"--priority", priorities}, {"--processes", process_modes},
  {"--batching", batchings},  {"--log", levels},
  {"--dtype", number_types},  {"--prediction", predictions},
  {"--links", link_targets},  {"--native-only", switches},
  {"bench", benches},         {"cache", cache_verbs},
  {"jobs", jobs_verbs},       {"models", model_verbs},
  {"train", parts},           {"SHELL", shells},
};

} // namespace

std::string option_of(const core::parameter& x) {
  std::string out{"--"};
  out += x.name;
  std::ranges::replace(out, '_', '-');
  return out;
}

std::span<const std::string_view> choices_of(std::string_view name) {
  for (const auto& x : table)
    if (x.name == name)
      return x.words;
  std::span<const std::string_view> words;
  core::each_parameter([&](const core::parameter& x, auto at) {
    using type = typename decltype(at)::type;
    if constexpr (std::is_enum_v<type>)
      if (x.option != core::option_group::by_hand && name == option_of(x))
        words = core::names_of<type>();
  });
  return words;
}

std::string list_choices(std::span<const std::string_view> words) {
  std::string result;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0)
      result += i + 1 == words.size() ? " or " : ", ";
    result += words[i];
  }
  return result;
}

} // namespace atelier::runtime::cli
