// SPDX-License-Identifier: Apache-2.0
#include <atelier/gpu/source_format.hpp>
#include <atelier/planning/stage.hpp>

#include <gpu/device_network.hpp>
#include <torch/torch.h>

#include <array>
#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace atelier::test {

namespace {

using namespace std::chrono_literals;
using planning::held;

class softening_stage {
public:
  struct work {
    core::extent px;

    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, work& x) {
      return f(x.px);
    }
  };

  struct done {
    template <class Inspector>
    friend typename Inspector::result_type inspect(Inspector& f, done&) {
      return f();
    }
  };

  softening_stage() {
    row_.name = "softening";
    row_.place = planning::place::device;
    row_.hook = planning::hook::before_answer;
    row_.slots = uses;
  }

  const planning::stage_row& row() const {
    return row_;
  }

  std::optional<work> begin(const planning::row_view& row) const {
    return work{row.px};
  }

  core::timespan takes(const work&, const planning::profile&) const {
    return 20ms;
  }

  core::result<done> run(const work& x, planning::worker_context& here) const {
    const auto before = here.slots.view(here.reads[held::pixels]);
    if (!before)
      return before.why();
    const auto& into = here.writes[held::pixels];
    const auto after = here.slots.buffer(into);
    if (!after)
      return after.why();
    const torch::InferenceMode no_gradients;
    const torch::Device device{std::string{here.device}};
    const auto height = static_cast<int64_t>(x.px.height);
    const auto width = static_cast<int64_t>(x.px.width);
    auto pixels = torch::empty({height, width, 3}, torch::kUInt8);
    const auto bytes = gpu::drawn_bytes(x.px);
    std::memcpy(pixels.data_ptr(), before->data(), bytes);
    const auto weight = torch::full({3, 1, 3, 3}, 1.0 / 9, device);
    const auto planes =
      pixels.to(device).to(torch::kFloat).permute({2, 0, 1}).unsqueeze(0);
    const auto soft = torch::conv2d(planes, weight, {}, 1, 1, 1, 3);
    const auto out = soft.squeeze(0)
                       .permute({1, 2, 0})
                       .round()
                       .clamp(0, 255)
                       .to(torch::kUInt8)
                       .to(torch::kCPU)
                       .contiguous();
    std::memcpy(after->data(), out.data_ptr(), bytes);
    if (auto told = here.slots.publish(into, 1, bytes); !told)
      return told.why();
    here.notes.push_back(
      {core::note_code::image_scaled, "softened on " + soft.device().str()});
    return done{};
  }

  core::result<void> end(const done&, planning::facts&) const {
    return {};
  }

private:
  static constexpr std::array uses{
    planning::slot_use{held::pixels, planning::access::replaces}};

  planning::stage_row row_;
};

} // namespace

host_stage softening() {
  return {planning::make_stage(softening_stage{}), "denoise"};
}

} // namespace atelier::test
