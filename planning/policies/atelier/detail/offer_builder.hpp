// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/atelier/offers.hpp>
#include <atelier/planning/step_table.hpp>

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::planning::unified {

/// A leg of a column before it is bound to a pool.
struct leg_offer {
  core::variant_id variant;
  double steps = 0;
  /// Returns the seconds of a step at a batch on a kind of device; empty: those
  /// of the variant.
  std::function<double(std::string_view kind, uint32_t batch)> step_seconds;
  /// The cascade whose judge looks at each image; null: no judge does.
  const cascade_profile* judged_by = nullptr;
  /// The fraction of requests that reaches this leg.
  double reach = 1;
  /// If the leg cannot end in time, the previous leg already has an answer.
  bool may_be_left_out = false;
};

/// Collects a problem: pools and classes at once, columns as they are added.
class offer_builder {
public:
  /// Keeps references to `known` and `rules`.
  offer_builder(const demand& asked, const profile& known,
                const cluster_view& there, const offer_rules& rules);

  /// Returns the collected problem. Call it once, at the end.
  offers done();

  /// Returns, by class of whole images, its label and the number of steps that
  /// may be skipped.
  const std::vector<std::pair<uint32_t, uint32_t>>& classes() const {
    return meaning_;
  }

  /// Returns the class of the requests that already wait for a variant, if any
  /// do.
  std::optional<uint32_t> waiting_for(core::variant_id v) const {
    return waiting_[v.value];
  }

  const class_map& map() const {
    return out_.classes;
  }

  /// Returns the route's index. `reuses`: the route starts from cached work.
  uint32_t add_route(route r, bool reuses);

  /// Returns the threshold's index.
  uint32_t add_threshold(double t, double deferred);

  /// Returns the mix's index.
  uint32_t add_mix(mix x);

  /// Adds a column for every binding of the legs to pools of their variants
  /// that ends in time. `part`: the mix to which its answers belong, and the
  /// fraction of them that the light variant makes.
  void add(uint32_t of, uint32_t route, double quality, bool fresh,
           const std::vector<leg_offer>& legs,
           std::optional<std::pair<uint32_t, double>> part = {});

private:
  void bind(column& c, const std::vector<leg_offer>& legs, size_t at,
            double seconds);
  bool may_follow(const column& c, const pool_key& next) const;
  double step_seconds(const leg_offer& l, const pool_key& on) const;
  double once_seconds(const leg_offer& l, std::string_view kind) const;
  void add_pools(const cluster_view& there);

  // Returns the budget of legs that need not wait to the end: the index after
  // those of the rules.
  uint32_t any_wait() const {
    return static_cast<uint32_t>(rules_.waits.size());
  }

  double deadline(const cluster_view& there) const;
  void add_classes(const demand& asked);
  std::vector<double> shares_of_skips(const demand& asked) const;
  std::vector<double> edit_shares(const demand& asked) const;
  void add_floors();
  void scale_to_devices();
  double best_work(std::span<const request_class> asks,
                   std::string_view kind) const;

  const profile& known_;
  const kind_tables tables_;
  const offer_rules& rules_;
  offers out_;
  double deadline_ = 0;
  bool nobody_asks_ = false;
  std::vector<std::optional<uint32_t>> waiting_;
  // The pools of each variant.
  std::vector<std::vector<uint32_t>> pools_of_;
  std::vector<std::pair<uint32_t, uint32_t>> meaning_;
};

} // namespace atelier::planning::unified
