// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/prompt_weights.hpp>
#include <atelier/core/record.hpp>
#include <atelier/index/key.hpp>
#include <atelier/planning/policy.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace atelier::index {

bool is_searched_for(const core::request& wanted) {
  return wanted.source == nullptr && core::reads(wanted.cache);
}

bool is_remembered(const core::request& wanted) {
  return wanted.source == nullptr && core::writes(wanted.cache)
      && wanted.kind != core::request_kind::probe;
}

namespace {

size_t words_in(std::string_view text) {
  size_t words = 0;
  bool inside = false;
  for (const char c : text) {
    const bool blank = c == ' ' || (c >= '\t' && c <= '\r');
    words += !blank && !inside ? 1 : 0;
    inside = !blank;
  }
  return words;
}

/// Returns the weights and chunks that a run reads from a prompt; empty if all
/// its words have one weight and lie in one chunk.
std::string weights_in(const core::recipe& how, std::string_view prompt) {
  if (how.syntax == core::prompt_grammar::plain
      || how.emphasis == core::emphasis_rule::off)
    return {};
  const auto parts = core::read_word_weights(prompt);
  if (!parts || (parts->size() == 1 && parts->front().weight == 1))
    return {};
  std::string out;
  for (const auto& x : *parts)
    out +=
      fmt::format("{}{}x{} ", x.begins_chunk ? "|" : "",
                  how.emphasis == core::emphasis_rule::ignore ? 1.0 : x.weight,
                  words_in(x.text));
  return out;
}

} // namespace

std::string key_of(const core::recipe& how, std::string_view negative,
                   core::tenant_id whose, std::string_view positive) {
  auto any_seed = how;
  any_seed.seed = 0;
  std::vector<std::byte> bytes;
  core::record_writer sink{bytes};
  sink(any_seed, std::string{negative}, weights_in(how, positive), whose);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string_view tenant_part(std::string_view key) {
  // key_of writes the tenant last.
  return key.substr(key.size() - std::min(key.size(), sizeof(core::tenant_id)));
}

std::optional<core::recipe> recipe_in(std::string_view key) {
  core::recipe how;
  std::string negative;
  std::string weights;
  core::tenant_id whose;
  core::record_reader source{std::as_bytes(std::span{key})};
  if (!source(how, negative, weights, whose) || source.left() > 0)
    return std::nullopt;
  return how;
}

std::string key_for(const core::request& wanted,
                    const planning::profile& known) {
  ATELIER_EXPECTS(known.reuse, "the profile says what may be reused");
  return key_of(planning::recipe_of(wanted, {}, known.reuse->full, known),
                wanted.text.negative, wanted.tenant, wanted.text.positive);
}

} // namespace atelier::index
