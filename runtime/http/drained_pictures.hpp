// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/runtime/http/health.hpp>
#include <atelier/runtime/http/picture_service.hpp>

#include <memory>

namespace atelier::runtime::http {

/// The same pictures; while `condition` is draining, what is asked for anew is
/// refused, and what runs goes on.
std::shared_ptr<picture_service> drained(
  std::shared_ptr<picture_service> from,
  std::shared_ptr<const health> condition);

} // namespace atelier::runtime::http
