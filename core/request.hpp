// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atelier/core/float_bits.hpp>
#include <atelier/core/ids.hpp>
#include <atelier/core/note.hpp>
#include <atelier/core/parameters.hpp>
#include <atelier/core/shape.hpp>
#include <atelier/core/time.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace atelier::core {

/// The type of a request, and its origin.
enum class request_kind : uint8_t {
  /// An image from a prompt.
  generate,
  /// A template image that is repainted under a mask.
  edit,
  /// A copy of a served request that runs again to learn another route's
  /// quality.
  shadow,
  /// A request of the runtime itself that runs as a measurement.
  probe,
};

/// Orders the requests of one tenant: those of a higher priority run before any
/// of a lower one, except for ageing. Tenants take turns.
enum class priority : uint8_t { low, normal, high };

/// The format of the finished image.
enum class image_format : uint8_t { png, jpeg, webp };

/// A prompt and its negative prompt.
struct prompt_pair {
  std::string positive;
  std::string negative;

  friend bool operator==(const prompt_pair&, const prompt_pair&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, prompt_pair& x) {
    return f(x.positive, x.negative);
  }
};

/// The choices that the client fixed; the policy chooses the empty fields.
struct pins : wanted_parameters {
  std::optional<std::string> model;
  std::optional<std::string> variant;
  std::optional<uint32_t> level;

  friend bool operator==(const pins&, const pins&) = default;
};

/// How the finished image is encoded.
struct encoding {
  image_format format = image_format::png;
  /// 1..100 for JPEG and WebP (100 is lossless in WebP); PNG ignores it.
  uint32_t quality = 95;

  friend bool operator==(const encoding&, const encoding&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, encoding& x) {
    return f(x.format, x.quality);
  }
};

/// The files that an image-to-image request or an edit starts from, as
/// received: their headers have been read, their pixels have not.
struct source_images {
  /// PNG, JPEG or WebP.
  std::vector<uint8_t> image;
  /// PNG, JPEG or WebP; white is repainted. Empty: no mask.
  std::vector<uint8_t> mask;
  /// The sizes in the headers of the files.
  extent image_px;
  extent mask_px;

  uint64_t bytes() const {
    return uint64_t{image.size()} + mask.size();
  }

  uint64_t pixels() const {
    return image_px.pixels() + mask_px.pixels();
  }
};

/// A request for one image as received. It is valid (see validate) and
/// immutable.
struct request : settled_parameters {
  request_id id;
  /// An edit has a mask. A `generate` request with a source and no mask starts
  /// from that image (image to image).
  request_kind kind = request_kind::generate;
  prompt_pair text;
  /// Null: the image starts from noise only. With a source, px is never empty.
  std::shared_ptr<const source_images> source;
  extent px;
  /// Lets a model that draws only at its own size draw at that size; the image
  /// is then scaled. Otherwise the model draws at `px`.
  bool native_only = true;
  uint64_t seed = 0;
  encoding output;
  priority prio = priority::normal;
  tenant_id tenant;
  /// The tenant's share of devices: 1 to most_share.
  uint32_t share = 1;
  pins fixed;
  /// Whether the caller wants `progressed` calls; otherwise they are not sent.
  bool wants_progress = false;
  /// Number of steps between two previews in these calls; 0: no previews.
  uint32_t preview_every = 0;
  /// The request's name in the caller's own traces; may be empty.
  std::string trace;
  /// Notes for the image's client that are known when the request arrives.
  std::vector<note> notes;
  time_point arrived;
  time_point deadline = never;
  /// The variants that cannot run the request with the client's values: no
  /// route that it takes runs on one of them.
  std::vector<variant_id> unable;
};

/// Returns the member that holds a parameter's requested value.
template <class T>
std::optional<T>& asked_of(request& x, const chosen_member<T>& at) {
  return x.fixed.*at.asked;
}

template <class T>
T& asked_of(request& x, const settled_member<T>& at) {
  return x.*at.asked;
}

template <class T>
T& asked_of(request& x, const request_member<T>& at) {
  return x.*at.asked;
}

/// Returns the requested value; null if none was requested.
template <class T>
const T* asked_in(const request& x, const chosen_member<T>& at) {
  const auto& asked = x.fixed.*at.asked;
  return asked ? &*asked : nullptr;
}

template <class T>
const T* asked_in(const request& x, const settled_member<T>& at) {
  return &(x.*at.asked);
}

template <class T>
const T* asked_in(const request& x, const request_member<T>& at) {
  return &(x.*at.asked);
}

/// Returns a parameter as an inspector takes it: a float as its bits.
template <class T>
decltype(auto) as_inspected(T& x) {
  if constexpr (std::is_same_v<T, float>)
    return float_bits{x};
  else
    return (x);
}

/// How one stage runs a request; every choice is made.
struct recipe : used_parameters {
  variant_id variant;
  /// The run starts from an image, not only from noise: an image-to-image run
  /// or an edit.
  bool from_image = false;
  /// What `strength` does to the steps of LCM: the model's pipeline decides.
  share_steps lcm_steps = share_steps::spread;
  /// The model's autoencoder encodes an image to a distribution, from which a
  /// sample is drawn before the noise.
  bool samples_source = true;
  /// The size at which the image is drawn.
  extent px;
  /// The size to which the image is scaled and cut; empty: it stays as drawn.
  extent scaled_to;
  uint64_t seed = 0;

  friend bool operator==(const recipe&, const recipe&) = default;

  template <class Inspector>
  friend typename Inspector::result_type inspect(Inspector& f, recipe& x) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return f(x.variant, as_inspected(x.*member_of<I>().used)..., x.from_image,
               x.lcm_steps, x.samples_source, x.px, x.scaled_to, x.seed);
    }
    (used_parameter_numbers{});
  }
};

/// Returns the size of the image that a run returns.
inline extent answered_px(const recipe& how) {
  return how.scaled_to == extent{} ? how.px : how.scaled_to;
}

/// Returns how many steps a run makes, at least one. This is a row's length
/// wherever one is counted.
uint32_t steps_to_run(const recipe& how);

std::string_view to_string(request_kind x);
std::string_view to_string(priority x);
std::string_view to_string(noise_source x);
std::string_view to_string(step_spacing x);
std::string_view to_string(strength_rule x);
std::string_view to_string(prompt_grammar x);
std::string_view to_string(emphasis_rule x);
std::string_view to_string(cache_use x);
std::string_view to_string(image_format x);

/// Return the value with that name, if any. The names are those of `to_string`.
std::optional<image_format> parse_image_format(std::string_view name);
std::optional<priority> parse_priority(std::string_view name);

} // namespace atelier::core
