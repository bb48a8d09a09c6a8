// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/error.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/planning/own_facts.hpp>
#include <atelier/planning/reuse/hit_prediction.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace atelier::planning {

/// The origin of a leg.
enum class origin : uint8_t {
  /// The request's own noise.
  noise,
  /// A cached latent of a similar prompt.
  latent,
  /// A cached image of a similar prompt, noised again.
  image,
  /// The image of the previous leg.
  stage_image,
  /// The template of an edit.
  template_image,
};

/// The action for a late request.
enum class late_rule : uint8_t {
  /// Drops it and reports that.
  drop,
  /// Answers with the best image so far; drops it without one.
  answer_best,
};

/// A judge and a threshold that decide whether a leg's image is the answer.
struct gate {
  /// Name of the judging model.
  std::string judge;
  /// Index into plan::thresholds.
  uint32_t threshold = 0;

  friend bool operator==(const gate&, const gate&) = default;
};

/// One piece of a route: denoise with one of several variants, from an origin,
/// with captures, then perhaps a gate.
struct leg {
  /// Each of these may run it; at least one.
  std::vector<core::variant_id> any_of;
  origin from = origin::noise;
  /// Steps skipped at the start, and steps of the whole run; 0 steps: the
  /// variant's.
  uint32_t skip = 0;
  uint32_t steps = 0;
  /// The number of steps to which `skip` refers, so that variants of any step
  /// count skip the same share; 0: the variant's steps.
  uint32_t skip_of = 0;
  /// The worker's level replaces `skip`.
  bool level_of_worker = false;
  /// Steps after which the latent is kept for the cache, rising.
  std::vector<uint32_t> capture;
  /// Records activations for the template.
  bool record = false;
  std::optional<gate> check;

  friend bool operator==(const leg&, const leg&) = default;
};

/// Returns whether a leg starts from an image in its own slot: the request's,
/// or that of an earlier leg.
/// @param brings_image the request has an image
inline bool has_source(const leg& x, bool brings_image) {
  return brings_image || (x.from == origin::stage_image && x.skip > 0);
}

/// The parts of a finished request that the caches keep.
struct store_set {
  bool latents = false;
  bool image = false;

  friend bool operator==(const store_set&, const store_set&) = default;
};

/// The legs that answer a request. No legs: `from` itself is the answer.
struct route {
  std::string name;
  std::vector<leg> legs;
  origin from = origin::noise;
  store_set store;
  late_rule late = late_rule::drop;

  friend bool operator==(const route&, const route&) = default;
};

/// The score of an image whose judge failed: below every threshold.
inline constexpr double unjudged = -1;

/// The outcome of one leg of a request.
struct outcome {
  uint32_t leg = 0;
  core::variant_id variant;
  core::ec failure = core::ec::none;
  /// The judge's score, if the leg has a gate: 0..1, or `unjudged`.
  double score = 0;

  friend bool operator==(const outcome&, const outcome&) = default;
};

/// An earlier result from which a request could start.
struct match {
  uint64_t entry = 0;
  double similarity = 0;
  /// The step numbers after which a latent is stored, rising.
  std::vector<uint32_t> stored;
  /// The length of the chain of reuse up to this entry.
  uint32_t depth = 0;
  /// The entry was drawn from noise for this very text, and `seed` drew it: a
  /// whole run with that seed makes the same again.
  bool seeded = false;
  uint64_t seed = 0;

  friend bool operator==(const match&, const match&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, match& x) {
    return f(x.entry, x.similarity, x.stored, x.depth, x.seeded, x.seed);
  }
};

/// The masked part of an edit.
struct mask_facts {
  /// The masked share of the image, 0..1.
  double ratio = 0;
  uint64_t template_id = 0;
  /// The template's activations are stored.
  bool recorded = false;

  friend bool operator==(const mask_facts&, const mask_facts&) = default;
};

/// The encoded file of an answer.
struct file_facts {
  uint64_t bytes = 0;
  std::string sha256;

  friend bool operator==(const file_facts&, const file_facts&) = default;
};

/// The known facts of a request; a field is empty until a policy asks for it.
struct facts {
  /// The predicted tolerated level, one for each ladder (cached latents,
  /// smaller models).
  std::optional<std::vector<uint32_t>> tolerated;
  std::optional<bool> hit_likely;
  std::optional<std::vector<match>> near;
  /// What the search for `near` showed of a prediction of it.
  std::optional<checked_prediction> prediction;
  std::optional<mask_facts> mask;
  /// Facts of types that only a stage and a policy know.
  own_facts own;
  /// Ended legs in order.
  std::vector<outcome> done;
  /// The index into `done` of the best image that may be answered.
  std::optional<uint32_t> best;
  /// Present once the answer is encoded.
  std::optional<file_facts> file;

  /// Takes what a stage found. What it knows nothing of stays, and so do the
  /// legs.
  void learn(facts found);
};

} // namespace atelier::planning
