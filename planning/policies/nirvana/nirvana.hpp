// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/planning/policies/vanilla/vanilla.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atelier::planning {

/// The differences between the policies that reuse earlier work as a whole or
/// in part.
struct nirvana_rules {
  enum class reuse_rule : uint8_t {
    /// The state of the nearest prompt.
    nearest,
    /// The state with the largest skip among eight neighbours.
    furthest,
    /// The nearest image, unchanged.
    image,
    /// No earlier work.
    none,
  };

  std::string name = "nirvana";
  reuse_rule reuse = reuse_rule::furthest;
  /// Images are returned from this similarity on. If the policy compares
  /// prompts with images, a measured similarity replaces it.
  double image_from = 0;
  compared by = compared::prompts;
  /// The predictor that says whether a hit is likely, and whether it is always
  /// asked, or only while that gains. The paper's learns from the entries; a
  /// half-space around them accepts much that is near none, so that the default
  /// learns from the outcomes of searches.
  predicted_from predicts = predicted_from::outcomes;
  bool predictor_always = false;
  /// The fraction of requests that start from noise despite any match.
  double fresh = 0.02;
  /// The policy runs the first small variant of the profile instead of the full
  /// one.
  bool small = false;
};

/// Starts from a cached latent of a similar prompt, and skips as many steps as
/// the similarity allows. All workers do the same; the savings of a hit are
/// those on a mean device (mean_over), as the paper knows only one kind.
class nirvana_policy : public vanilla {
public:
  nirvana_policy() = default;

  explicit nirvana_policy(nirvana_rules rules) : rules_(std::move(rules)) {}

  std::string_view name() const override {
    return rules_.name;
  }

  plan replan(const demand& asked, const profile& known,
              const cluster_view& there, const plan& previous) const override;

  choice choose(const decision_context& by) const override;

  compared compares(const profile& known) const override;

  std::optional<assumed_thresholds> assumes(
    const profile& known) const override;

  plan_reasons explain(const plan& made) const override;
  std::string_view memory_name() const override;
  policy_memory kept(const policy_memory& all) const override;
  std::string save(const policy_memory& kept) const override;
  core::result<policy_memory> restore(const saved_memory& from) const override;

private:
  nirvana_rules rules_;
};

/// Returns the rules of `nirvana`, `nirvana-paper`, `nirvana-no-predictor`,
/// `gptcache`, `pinecone`, `crs` and `small-model`.
std::vector<nirvana_rules> all_nirvana_rules();

} // namespace atelier::planning
