// SPDX-License-Identifier: Apache-2.0
#include "safety_check.hpp"

#include <atelier/planning/policies/vanilla/vanilla.hpp>
#include <atelier/planning/stage.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

using namespace atelier;
using planning::held;

namespace {

/// Looks at each image before it is encoded. Its `work` and `done` name their
/// fields, since they may cross to another process and back.
class dark_check {
public:
  struct work {
    uint64_t pixels = 0;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, work& x) {
      return f(x.pixels);
    }
  };

  struct done {
    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, done&) {
      return f();
    }
  };

  explicit dark_check(double most) : most_(most) {
    row_.name = "dark_check";
    row_.hook = planning::hook::before_answer;
    row_.slots = uses;
    // An image that could not be looked at is not sent.
    row_.otherwise = planning::if_failed::fail;
  }

  const planning::stage_row& row() const {
    return row_;
  }

  /// Returns the work for a request, in the engine's own process.
  std::optional<work> begin(const planning::row_view& row) const {
    if (row.drawn == nullptr)
      return std::nullopt;
    return work{row.drawn->px.pixels()};
  }

  /// About a millisecond for a million pixels.
  core::timespan takes(const work& x, const planning::profile&) const {
    return std::chrono::nanoseconds{static_cast<int64_t>(x.pixels)};
  }

  /// Does it, in the engine's CPU process.
  core::result<done> run(const work& x, planning::worker_context& here) const {
    const auto pixels = here.slots.view(here.reads[held::pixels]);
    if (!pixels)
      return pixels.why();
    if (x.pixels == 0 || pixels->size() < 3 * x.pixels)
      return core::fail(core::ec::internal, "{} bytes for {} pixels",
                        pixels->size(), x.pixels);
    const auto is_dark = [&](uint64_t at) {
      const auto rgb = pixels->subspan(3 * at, 3);
      return std::ranges::all_of(
        rgb, [](std::byte c) { return std::to_integer<int>(c) < very_dark; });
    };
    uint64_t dark = 0;
    for (uint64_t at = 0; at < x.pixels; ++at)
      dark += is_dark(at) ? 1u : 0u;
    const auto share =
      static_cast<double>(dark) / static_cast<double>(x.pixels);
    if (share > most_)
      return core::fail(core::ec::bad_payload,
                        "the image is refused: {:.0f} % of it is very dark, at "
                        "most {:.0f} % may be",
                        100 * share, 100 * most_);
    return done{};
  }

  /// Enters the outcome into the facts: other stages need nothing from it.
  core::result<void> end(const done&, planning::facts&) const {
    return {};
  }

private:
  static constexpr int very_dark = 40;
  static constexpr std::array uses{
    planning::slot_use{held::pixels, planning::access::reads}};

  double most_;
  planning::stage_row row_;
};

/// Draws short prompts by the first variant and others by the last one, unless
/// a request says which. Plans are vanilla's, whose route i draws by variant i.
class by_length : public planning::vanilla {
public:
  explicit by_length(size_t short_words) : short_words_(short_words) {}

  std::string_view name() const override {
    return "by_length";
  }

  planning::choice choose(const planning::decision_context& by) const override {
    const auto& asked = by.wanted;
    const auto variants = static_cast<uint32_t>(by.costs.variants.size());
    if (asked.fixed.model || asked.fixed.variant || variants == 0
        || by.in_force.routes.size() < variants)
      return vanilla::choose(by);
    std::istringstream words{asked.text.positive};
    size_t count = 0;
    for (std::string word; words >> word;)
      ++count;
    return planning::go{
      core::route_id{count <= short_words_ ? 0 : variants - 1}};
  }

private:
  size_t short_words_;
};

} // namespace

extensions my_extensions() {
  extensions x;
  x.stages = {{planning::make_stage(dark_check{0.2}), "denoise"}};
  x.policies = {std::make_shared<const by_length>(4)};
  return x;
}
