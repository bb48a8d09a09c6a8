// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/detail/field_reader.hpp>

#include <string_view>

namespace atelier::runtime::http::detail {

/// Adds to a call the fields that the parameters of an image tell and that it
/// leaves out, in the words of txt2img and img2img.
void add_infotext(json& call, std::string_view text);

} // namespace atelier::runtime::http::detail
