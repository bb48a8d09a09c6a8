// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/result.hpp>
#include <atelier/extensions.hpp>
#include <atelier/index/kept_work.hpp>

#include <memory>

namespace atelier::runtime {

/// Returns the cache that a host's function makes of the configured one, behind
/// a border: an exception of a search finds nothing, one of `state` or `image`
/// is an error, one of `keep` keeps nothing, and each is logged. Without a
/// function or a configured cache, `configured` is returned.
/// Errors: ec::bad_config (the function returns null); ec::internal,
///         ec::out_of_resources (it throws).
core::result<std::shared_ptr<index::kept_work>> host_cache(
  const decltype(extensions::cache)& own,
  std::shared_ptr<index::kept_work> configured);

} // namespace atelier::runtime
