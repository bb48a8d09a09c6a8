// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/atelier.hpp>
#include <atelier/core/request.hpp>

namespace atelier::runtime {

/// Makes one of several images of a call start from noise. Images that start
/// from the same earlier work are often the same image, so that only the first
/// of several may, whatever `cache` and seed its client chose. What it leaves
/// is kept as before. A `cache` without such a name stays as it is, because
/// the door refuses it.
inline void start_from_noise(generation& x) {
  x.seed_drawn = false;
  x.cache_similarity.reset();
  if (!x.cache)
    return;
  if (const auto use = core::parse_name<core::cache_use>(*x.cache))
    x.cache.emplace(core::to_string(core::without_reading(*use)));
}

} // namespace atelier::runtime
