// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/cluster.hpp>
#include <atelier/planning/policies/atelier/programme.hpp>
#include <atelier/planning/policies/diffserve/deferral.hpp>
#include <atelier/planning/profile.hpp>
#include <atelier/planning/route.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace atelier::planning::unified {

/// Classes of a plan at most; the ones with the fewest requests become one.
inline constexpr uint32_t most_classes = 50;

/// Edits are told apart by eighths of their masked share.
inline constexpr uint32_t edit_bins = 8;

/// Which class a request belongs to, from what is predicted and found.
struct class_map {
  /// Predicted levels; 1: none are told apart.
  uint32_t labels = 1;
  /// Index of the ladder in the profile whose predictions count.
  uint32_t ladder = 0;
  /// Steps that what is near allows to skip, rising, from 0 (nothing near) on.
  std::vector<uint32_t> skips{0};
  /// [label * skips.size() + index of skip]: the class.
  std::vector<uint32_t> of{0};
  /// By eighth of the masked share; empty: edits are not planned for.
  std::vector<uint32_t> edits;

  friend bool operator==(const class_map&, const class_map&) = default;
};

/// Returns the class. `skip` counts as the largest known one not above it.
uint32_t class_in(const class_map& map, uint32_t label, uint32_t skip);

/// Returns the eighth that a masked share belongs to.
uint32_t edit_bin(double masked);

/// What cached work is started from.
enum class reuse_kind : uint8_t { none, latents, images };

reuse_kind reuse_of(const profile& known);

/// Returns the skips that similarity allows: the profile's, else the published
/// ones. For latents the ladder's levels, at any similarity, where there is no
/// table.
skip_table reuse_table(const profile& known);

/// Returns whose similarity decides what `reuse_table` allows.
compared compared_by(const profile& known);

/// Returns the most steps that what is near allows to skip, over the first
/// eight matches; of latents no more than are stored.
uint32_t allowed_by(const profile& known, const std::vector<match>& near);

/// What offers are made with.
struct offer_rules {
  double head_room = 1.05;
  /// Answers keep this part of the best quality of their class, where possible.
  /// Source: Argus, section 3.
  double floor = 0.9;
  /// Share of answers from scratch that the cache takes in.
  /// Source: Nirvana, section 9, does not state its value.
  double fresh = 0.02;
  /// Requests must end within so many times the slowest variant's picture,
  /// where no cascade has a deadline.
  /// Source: Argus, section 5.1.
  double deadline_factor = 3;
  /// Budgets of waiting, in executions. A mean wait is a third of its budget:
  /// nineteen of twenty exponential waits are shorter than three means.
  std::vector<double> waits{0.25, 0.5, 1, 2};
  double busy = 0.97;
  /// Quality that a second of loading is worth, besides what the device could
  /// have answered in it.
  double load_price = 0.01;
  /// Seconds that a plan is made for at least.
  double period = 60;
};

/// Where devices of a pool are.
struct pool_key {
  core::variant_id variant;
  std::string device_kind;
  uint32_t batch = 1;
  /// Index of the budget; after the last one: of what is deferred, which has
  /// an answer already and waits as long as its deadline allows.
  uint32_t wait = 0;

  friend bool operator==(const pool_key&, const pool_key&) = default;
};

/// A problem, and what its parts mean.
struct offers {
  problem asked;
  class_map classes;
  /// By pool.
  std::vector<pool_key> pools;
  /// The routes that columns have in `key`, and the thresholds of their gates.
  std::vector<route> routes;
  std::vector<double> thresholds;
  /// By threshold: the share of light images below it.
  std::vector<double> deferred;
  /// By route: it starts from cached work.
  std::vector<char> reuses;
  /// Requests a second, without head-room and backlog.
  double rate = 0;
  /// The deviation that chance gives it.
  double noise = 0;
  /// Of what is asked: requests a second that nobody sends, head-room for those
  /// that may come.
  double spare = 0;
};

/// Returns every way that the profile has to answer: variants from noise,
/// levels by cached latent or picture, cascades with the gates that are worth
/// having, masked edits; each on all pools that end in time, with what it takes
/// on their kind of device. Where the profile lists kinds the legs of a cascade
/// may be of different ones. `deferred`: by cascade, what its judge lets pass.
offers make_offers(const demand& asked, const profile& known,
                   const cluster_view& there,
                   const std::vector<diffserve::deferral_profile>& deferred,
                   const offer_rules& rules = {});

/// Returns, by class, how many requests a second to let in where a plan refuses
/// so many of what was asked; infinite where it refuses none of them; empty:
/// all of all. Head-room that is short refuses nobody: what the others of a
/// class leave of it serves those.
std::vector<double> admitted(const offers& of,
                             const std::vector<double>& refused);

} // namespace atelier::planning::unified
