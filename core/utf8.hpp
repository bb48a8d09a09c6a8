// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace atelier::core {

/// Returns the byte offset at which `text` stops being UTF-8, or nothing. The
/// offset is that of the faulty sequence's first byte. Overlong forms,
/// surrogates and values above U+10FFFF are faults; U+0000 is not.
/// Source: RFC 3629, section 4.
std::optional<size_t> find_utf8_fault(std::string_view text);

/// Returns the beginning of valid UTF-8, at most `most_bytes` long, that ends
/// between two characters.
std::string_view beginning_of(std::string_view text, size_t most_bytes);

/// Returns the UTF-8 form of one code point, or of U+FFFD if `code_point` is a
/// surrogate or above U+10FFFF.
std::string to_utf8(char32_t code_point);

} // namespace atelier::core
