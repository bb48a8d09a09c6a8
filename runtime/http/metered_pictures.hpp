// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/metrics.hpp>
#include <atelier/runtime/http/picture_service.hpp>

#include <memory>

namespace atelier::runtime::http {

/// The same pictures, counted.
std::shared_ptr<picture_service> metered(std::shared_ptr<picture_service> from,
                                         std::shared_ptr<metrics> into);

} // namespace atelier::runtime::http
