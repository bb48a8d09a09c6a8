// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace atelier::core {

/// Gives integers of different meanings different types. `Tag` is never
/// defined.
template <class Tag, class Rep = uint32_t>
struct strong_id {
  using rep = Rep;

  Rep value = 0;

  constexpr strong_id() = default;

  constexpr explicit strong_id(Rep v) : value(v) {}

  friend constexpr auto operator<=>(strong_id, strong_id) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, strong_id& x) {
    return f(x.value);
  }
};

/// Numbers the requests of one epoch from 1; 0 means no request.
using request_id = strong_id<struct request_tag, uint64_t>;
/// Indexes the workers that the scheduler knows, including the members of the
/// preprocess and postprocess pools. An index is not reused after its worker's
/// death.
using worker_id = strong_id<struct worker_tag>;
/// Numbers the processes of an engine; 0 is the control process.
using process_id = strong_id<struct process_tag>;
/// Indexes the variants of the profile.
using variant_id = strong_id<struct variant_tag>;
/// Indexes the routes of a plan.
using route_id = strong_id<struct route_tag>;
/// Indexes the rows of a plan's share matrix.
using class_id = strong_id<struct class_tag>;
/// Identifies a queue of dispatchable stages.
using queue_id = strong_id<struct queue_tag>;
/// Counts the lives of one process of an engine; 0 precedes the first.
using incarnation = strong_id<struct incarnation_tag>;
/// Counts the control processes that have owned one host's arena.
using epoch = strong_id<struct epoch_tag>;

/// Identifies a client for fairness, accounting and the cache: 128 bits, so
/// that no client finds a name with another client's (tenant_of). 0 is the
/// unnamed client.
struct tenant_id {
  uint64_t high = 0;
  uint64_t low = 0;

  constexpr tenant_id() = default;

  constexpr explicit tenant_id(uint64_t number) : low(number) {}

  constexpr tenant_id(uint64_t upper, uint64_t lower)
    : high(upper), low(lower) {}

  friend constexpr auto operator<=>(const tenant_id&,
                                    const tenant_id&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, tenant_id& x) {
    return f(x.high, x.low);
  }
};

/// Identifies an attempt in every message about a request. A reply counts only
/// if its attempt equals that of the request's row.
struct ticket {
  request_id id;
  uint32_t attempt = 0;

  friend constexpr auto operator<=>(const ticket&, const ticket&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, ticket& x) {
    return f(x.id, x.attempt);
  }
};

} // namespace atelier::core

template <class Tag, class Rep>
struct std::hash<atelier::core::strong_id<Tag, Rep>> {
  size_t operator()(atelier::core::strong_id<Tag, Rep> x) const noexcept {
    return std::hash<Rep>{}(x.value);
  }
};

template <>
struct std::hash<atelier::core::ticket> {
  size_t operator()(const atelier::core::ticket& x) const noexcept {
    return std::hash<uint64_t>{}(x.id.value * 0x9E3779B97F4A7C15ull
                                 ^ x.attempt);
  }
};
