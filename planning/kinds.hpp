// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/ids.hpp>
#include <atelier/core/time.hpp>
#include <atelier/planning/cluster.hpp>
#include <atelier/planning/profile.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace atelier::planning {

// The costs of devices of one kind. A kind that the profile does not list has
// the profile's costs. A variant for which a listed kind has no costs also has
// the profile's costs, as an estimate.

/// Returns the kind's own costs; null if the profile does not list it.
const kind_profile* find_kind(const profile& p, std::string_view kind);

/// Returns the variant with its costs on devices of the kind.
/// @pre the profile knows the variant
variant_profile on_kind(const profile& p, core::variant_id variant,
                        std::string_view kind);

/// Returns members of on_kind without copying the others.
/// @pre the profile knows the variant
core::timespan load_on(const profile& p, core::variant_id variant,
                       std::string_view kind);
uint64_t memory_on(const profile& p, core::variant_id variant,
                   std::string_view kind);
bool guessed_on(const profile& p, core::variant_id variant,
                std::string_view kind);

/// Returns the time of a cascade's judge for one image on the kind.
core::timespan judging_on(const profile& p, const cascade_profile& cascade,
                          std::string_view kind);

/// Returns the edits of a variant on the kind; null if none are measured.
const masked_profile* masked_on(const profile& p, core::variant_id variant,
                                std::string_view kind);

/// Returns the profile for devices of the kind: all its values hold for them,
/// and it lists no kinds.
profile seen_on(profile p, std::string_view kind);

/// Returns the largest batch measured on any kind of device; at least 1.
uint32_t largest_batch(const profile& p);

/// Returns the kinds of a cluster's workers, with their number, in order of
/// first occurrence.
std::vector<device_group> groups_in(const cluster_view& there);

/// Returns the group of the device with that index, counting the first group's
/// devices first; null if there are fewer devices.
const device_group* group_of(std::span<const device_group> groups,
                             uint32_t device);

/// A number of devices, and the time of each for the same work.
struct device_time {
  double devices = 0;
  core::timespan takes{0};
};

/// Returns the mean duration per device, such that the same number of equal
/// devices does the same work in total: the harmonic mean. 0 if one of the
/// durations is 0.
core::timespan mean_time(std::span<const device_time> all);

/// Returns the profile for policies that know one kind of device: the
/// throughput of all groups together, divided among their devices. Times of
/// requests are harmonic means over the devices, times of loads arithmetic
/// means; a mean that includes an estimate is an estimate. `kinds` is
/// unchanged. Without groups, or if the profile lists no kinds, it is the
/// profile itself.
profile mean_over(profile p, std::span<const device_group> groups);

/// Returns the costs of devices of a kind, from a profile measured on one of
/// them. Variants are found by their names.
kind_profile kind_from(const profile& p, std::string kind,
                       const profile& measured);

} // namespace atelier::planning
