// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/gpu/models/files/foreign_json.hpp>
#include <atelier/gpu/models/tokenizer/detail/added_tokens.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

/// Parts of tokenizer.json that the kinds of tokenizers share. All errors are
/// ec::bad_payload and name the file and the key.
namespace atelier::gpu::detail {

/// Reads an object of tokens and their ids, which all differ.
/// @param prefix what precedes a token in messages
core::result<std::unordered_map<std::string, int32_t>> parse_token_ids(
  std::string_view file, std::string_view prefix, const json& from);

/// Checks that `found`, which may be nullptr, equals the section that a kind of
/// tokenizer has.
/// @param model the kind's name, for messages
/// @param optional keys that may be absent
core::result<void> check_section(std::string_view file, std::string_view model,
                                 const std::string& key, const json* found,
                                 const json& wanted,
                                 const std::set<std::string>& optional = {});

/// Checks that the document truncates and pads on the right, if at all.
core::result<void> check_directions(std::string_view file,
                                    const json& document);

/// Appends the document's added tokens.
core::result<void> parse_added_list(std::string_view file, const json& document,
                                    std::vector<added_token>& to);

} // namespace atelier::gpu::detail
