// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/runtime/http/detail/field_reader.hpp>

namespace atelier::runtime::http::detail {

/// Reads sampler_name (else sampler_index) and scheduler: "DPM++ 2M Karras" is
/// DPM++ 2M with the scheduler Karras. Our own names are known too.
void read_a1111_sampler(field_reader& r, generation& into);

} // namespace atelier::runtime::http::detail
