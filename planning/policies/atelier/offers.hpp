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

/// The maximum number of classes of a plan; the classes with the fewest
/// requests are merged.
inline constexpr uint32_t most_classes = 50;

/// The number of equal ranges of the masked fraction by which edits are
/// classified.
inline constexpr uint32_t edit_bins = 8;

/// Maps a request to its class, by its prediction and its matches.
struct class_map {
  /// The number of predicted levels; 1: all requests have the same level.
  uint32_t labels = 1;
  /// The index in the profile of the ladder whose predictions are used.
  uint32_t ladder = 0;
  /// The numbers of steps that matches allow to skip, rising, starting with 0
  /// (no match).
  std::vector<uint32_t> skips{0};
  /// [label * skips.size() + index of skip]: the class.
  std::vector<uint32_t> of{0};
  /// By eighth of the masked fraction; empty: edits are not planned.
  std::vector<uint32_t> edits;

  friend bool operator==(const class_map&, const class_map&) = default;
};

/// Returns the class. `skip` counts as the largest known one not above it.
uint32_t class_in(const class_map& map, uint32_t label, uint32_t skip);

/// Returns the eighth to which a masked fraction belongs.
uint32_t edit_bin(double masked);

/// The kind of cached work that runs start from.
enum class reuse_kind : uint8_t { none, latents, images };

reuse_kind reuse_of(const profile& known);

/// Returns the skips by similarity: those of the profile, otherwise the
/// published ones. For latents without a table, these are the ladder's levels
/// at any similarity.
skip_table reuse_table(const profile& known);

/// Returns the similarity from which on anything is reused: 0 for latents
/// without a table.
double reused_from(const profile& known);

/// Returns what is compared to get the similarity in `reuse_table`.
compared compared_by(const profile& known);

/// Returns the largest number of steps that the first eight matches allow to
/// skip; for latents, no more than are stored.
uint32_t allowed_by(const profile& known, const std::vector<match>& near);

/// The rules for making offers.
struct offer_rules {
  double head_room = 1.05;
  /// Answers keep this fraction of the best quality of their class, if
  /// possible.
  /// Source: Argus, section 3.
  double floor = 0.9;
  /// The fraction of answers drawn from noise that the cache stores.
  /// Source: Nirvana, section 9, does not state its value.
  double fresh = 0.02;
  /// Unless a cascade has a deadline, requests must end within this multiple of
  /// the time of the slowest variant's image.
  /// Source: Argus, section 5.1.
  double deadline_factor = 3;
  /// The waiting budgets, in executions. The mean wait is a third of its
  /// budget: nineteen of twenty exponential waits are shorter than three means.
  std::vector<double> waits{0.25, 0.5, 1, 2};
  double busy = 0.97;
  /// The quality that a second of loading costs, in addition to the answers
  /// that the device could have made in it.
  double load_price = 0.01;
  /// The minimum number of seconds that a plan is made for.
  double period = 60;
};

/// The key of a pool of devices.
struct pool_key {
  core::variant_id variant;
  std::string device_kind;
  uint32_t batch = 1;
  /// The index of the budget. The index after the last budget stands for
  /// deferred requests, which already have an answer and wait as long as their
  /// deadline allows.
  uint32_t wait = 0;

  friend bool operator==(const pool_key&, const pool_key&) = default;
};

/// A problem, and the meaning of its parts.
struct offers {
  problem asked;
  class_map classes;
  /// By pool.
  std::vector<pool_key> pools;
  /// The routes that columns refer to by `key`, and the thresholds of their
  /// gates.
  std::vector<route> routes;
  std::vector<double> thresholds;
  /// By threshold: the fraction of light images below it.
  std::vector<double> deferred;
  /// By route: whether it starts from cached work.
  std::vector<char> reuses;
  /// Requests per second, without headroom and backlog.
  double rate = 0;
  /// The standard deviation of `rate` by chance.
  double noise = 0;
  /// The part of the planned rate that no client sends: headroom for additional
  /// requests, in requests per second.
  double spare = 0;
};

/// Returns every route that the profile offers: variants from noise, levels by
/// cached latent or image, cascades with the useful gates, masked edits; each
/// on all pools that end in time, with its costs on their kind of device. If
/// the profile lists kinds, the legs of a cascade may run on different ones.
/// `deferred`: by cascade, the profile of its judge.
offers make_offers(const demand& asked, const profile& known,
                   const cluster_view& there,
                   const std::vector<diffserve::deferral_profile>& deferred,
                   const offer_rules& rules = {});

/// Returns, by class, the requests per second to admit if a plan refuses
/// `refused` of the planned rates; infinite for a class without refusals;
/// empty: all requests of all classes are admitted. Missing headroom refuses no
/// requests: the headroom that the other requests of a class leave unused
/// serves them.
std::vector<double> admitted(const offers& of,
                             const std::vector<double>& refused);

} // namespace atelier::planning::unified
