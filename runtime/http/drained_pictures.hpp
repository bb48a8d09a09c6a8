// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/health.hpp>
#include <atelier/runtime/http/picture_service.hpp>

#include <memory>

namespace atelier::runtime::http {

/// Returns a service with the same images. While `condition` is draining, it
/// rejects new requests, and requests in progress continue.
std::shared_ptr<picture_service> drained(
  std::shared_ptr<picture_service> from,
  std::shared_ptr<const health> condition);

} // namespace atelier::runtime::http
