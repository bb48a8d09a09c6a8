// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/index/near_vector.hpp>
#include <atelier/index/vectors/detail/entry.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace atelier::index::detail {

/// An entry whose similarity is at most `limit`, as its codes tell.
struct candidate {
  double limit = 0;
  const entry* what = nullptr;
};

/// Adds the candidates that are not gone, that serve `needs`, whose similarity
/// is not 0, and that are among the `most` nearest of them and of `to`, with
/// all that are equally near; others may be added too. Compares the numbers of
/// no more candidates than their limits require. Returns false if fewer than
/// `most` were found and each candidate is similar, so that further entries can
/// be as well.
/// Threads: any.
bool add_nearest(std::vector<candidate> all, std::span<const float> unit,
                 size_t most, const planning::needed_work& needs,
                 std::vector<near_vector>& to);

} // namespace atelier::index::detail
