// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/image_service.hpp>
#include <atelier/runtime/http/metrics.hpp>
#include <atelier/runtime/http/recent_images.hpp>

#include <memory>

namespace atelier::runtime::http {

/// Returns a service with the same images that counts them and reports them to
/// `seen`, if it is not null.
std::shared_ptr<image_service> metered(
  std::shared_ptr<image_service> from, std::shared_ptr<metrics> into,
  std::shared_ptr<recent_images> seen = nullptr);

} // namespace atelier::runtime::http
