// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/health.hpp>
#include <atelier/runtime/http/image_service.hpp>

#include <memory>

namespace atelier::runtime::http {

/// Returns a service with the same images. While `condition` is draining, it
/// rejects new requests, and requests in progress continue.
std::shared_ptr<image_service> drained(std::shared_ptr<image_service> from,
                                       std::shared_ptr<const health> condition);

} // namespace atelier::runtime::http
