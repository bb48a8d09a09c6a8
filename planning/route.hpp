// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/error.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/ipc/slot_ref.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace atelier::planning {

/// What a leg starts from.
enum class origin : uint8_t {
  /// The request's own noise.
  noise,
  /// A cached latent of a similar prompt.
  latent,
  /// A cached picture of a similar prompt, noised again.
  image,
  /// The picture of the leg before.
  stage_image,
  /// The template of an edit.
  template_image,
};

/// What to do with a request that is late.
enum class late_rule : uint8_t {
  /// Drop it and say so.
  drop,
  /// Answer with the best picture so far; drop where there is none.
  answer_best,
};

/// A judge and a threshold that decide whether a leg's picture is the answer.
struct gate {
  /// Name of the judging model.
  std::string judge;
  /// Index into plan::thresholds.
  uint32_t threshold = 0;

  friend bool operator==(const gate&, const gate&) = default;
};

/// One piece of a route: denoise on one of some variants, from an origin, with
/// captures, then perhaps a gate.
struct leg {
  /// Any of these may run it; at least one.
  std::vector<core::variant_id> any_of;
  origin from = origin::noise;
  /// Steps left out at the start, and steps of the whole; 0 steps: the
  /// variant's.
  uint32_t skip = 0;
  uint32_t steps = 0;
  /// Steps that `skip` is counted of, so that variants of any step count leave
  /// out the same share; 0: those of the variant.
  uint32_t skip_of = 0;
  /// The worker's level replaces `skip`.
  bool level_of_worker = false;
  /// Steps after which the latent is kept for the cache, rising.
  std::vector<uint32_t> capture;
  /// Record activations for the template.
  bool record = false;
  std::optional<gate> check;

  friend bool operator==(const leg&, const leg&) = default;
};

/// Returns whether a leg starts from an image that is kept in a slot of its
/// own: the request's, or that of an earlier leg.
/// @param brings_image the request does
inline bool has_source(const leg& x, bool brings_image) {
  return brings_image || (x.from == origin::stage_image && x.skip > 0);
}

/// What a finished request leaves in the caches.
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

/// The score of a picture that its judge failed at: below every threshold.
inline constexpr double unjudged = -1;

/// How one leg of a request ended.
struct outcome {
  uint32_t leg = 0;
  core::variant_id variant;
  core::ec failure = core::ec::none;
  /// The judge's score, where the leg has a gate: 0..1, or `unjudged`.
  double score = 0;
  ipc::slot_ref image;

  friend bool operator==(const outcome&, const outcome&) = default;
};

/// One earlier piece of work that a request could start from.
struct match {
  uint64_t entry = 0;
  double similarity = 0;
  /// Every number of steps after which a latent is stored, rising.
  std::vector<uint32_t> stored;
  /// How many times reuse was chained up to this entry.
  uint32_t depth = 0;

  friend bool operator==(const match&, const match&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, match& x) {
    return f(x.entry, x.similarity, x.stored, x.depth);
  }
};

/// The masked part of an edit.
struct mask_facts {
  /// Masked share of the picture, 0..1.
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

/// What is known of a request; a field is empty until a policy asked for it.
struct facts {
  /// Predicted tolerated level, one for each ladder (cached latents, smaller
  /// models).
  std::optional<std::vector<uint32_t>> tolerated;
  std::optional<bool> hit_likely;
  std::optional<std::vector<match>> near;
  std::optional<mask_facts> mask;
  /// Ended legs in order.
  std::vector<outcome> done;
  /// Index into `done` of the best picture that may be answered.
  std::optional<uint32_t> best;
  /// Once the answer is encoded.
  std::optional<file_facts> file;
};

} // namespace atelier::planning
