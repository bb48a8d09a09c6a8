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

// What devices of one kind take. A kind that the profile does not list takes
// what the profile says, and so does every variant that a listed kind has no
// costs of, which are a guess there.

/// Returns the kind's own costs; null: the profile does not list it.
const kind_profile* find_kind(const profile& p, std::string_view kind);

/// Returns the variant with the costs that it has on devices of the kind.
/// @pre the profile knows the variant
variant_profile on_kind(const profile& p, core::variant_id variant,
                        std::string_view kind);

/// Returns members of on_kind, without a copy of the others.
/// @pre the profile knows the variant
core::timespan load_on(const profile& p, core::variant_id variant,
                       std::string_view kind);
uint64_t memory_on(const profile& p, core::variant_id variant,
                   std::string_view kind);
bool guessed_on(const profile& p, core::variant_id variant,
                std::string_view kind);

/// Returns the time of a cascade's judge for one picture on the kind.
core::timespan judging_on(const profile& p, const cascade_profile& cascade,
                          std::string_view kind);

/// Returns the edits of a variant on the kind; null: none are measured.
const masked_profile* masked_on(const profile& p, core::variant_id variant,
                                std::string_view kind);

/// Returns the profile as devices of the kind see it: all that it says holds
/// for them, and it lists no kinds.
profile seen_on(profile p, std::string_view kind);

/// Returns the largest batch that was measured on any kind of device; at
/// least 1.
uint32_t largest_batch(const profile& p);

/// Returns the kinds of a cluster's workers, with their number, in the order in
/// which they come first.
std::vector<device_group> groups_in(const cluster_view& there);

/// Returns the group that the device of that index belongs to, where those of
/// the first group come first; null: there are fewer devices.
const device_group* group_of(std::span<const device_group> groups,
                             uint32_t device);

/// So many devices, and the time that each takes for the same work.
struct device_time {
  double devices = 0;
  core::timespan takes{0};
};

/// Returns what a device takes on the mean, such that as many equal ones do as
/// much together: the harmonic mean. 0 where one of them takes none.
core::timespan mean_time(std::span<const device_time> all);

/// Returns the profile as policies see it that know one kind of device: what
/// all groups do in a second together, divided among their devices. Times of
/// requests are harmonic means over the devices, times of loads arithmetic
/// ones; a guess for one of them is a guess. `kinds` stays. Without groups, and
/// where the profile lists no kinds, it is the profile itself.
profile mean_over(profile p, std::span<const device_group> groups);

/// Returns what devices of a kind take by a profile that was measured on one of
/// them, whose variants are found by their names.
kind_profile kind_from(const profile& p, std::string kind,
                       const profile& measured);

} // namespace atelier::planning
