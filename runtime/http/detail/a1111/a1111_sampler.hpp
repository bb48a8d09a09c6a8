// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/runtime/http/detail/field_reader.hpp>

#include <vector>

namespace atelier::runtime::http::detail {

/// Reads sampler_name (else sampler_index) and scheduler: "DPM++ 2M Karras" is
/// DPM++ 2M with the scheduler Karras. Our own names are known too.
void read_a1111_sampler(field_reader& r, generation& into);

/// Checks that the sampler that will run, the model's own if none was named,
/// has Karras' schedule if that was asked for. Call it after the model was
/// read.
void settle_a1111_scheduler(field_reader& r,
                            const std::vector<variant_status>& known,
                            generation& into);

} // namespace atelier::runtime::http::detail
