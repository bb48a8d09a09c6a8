// SPDX-License-Identifier: Apache-2.0
#include <atelier/actors/stages/denoise.hpp>

#include <array>
#include <memory>

namespace atelier::actors {

namespace {

using planning::access;
using planning::held;

bool reads_source(const planning::leg* in, bool brings_image) {
  return in != nullptr && planning::has_source(*in, brings_image);
}

constexpr std::array denoise_uses{
  planning::slot_use{held::source, access::reads, reads_source},
  planning::slot_use{held::state, access::replaces},
  planning::slot_use{held::pixels, access::writes},
  planning::slot_use{held::capture, access::writes},
};

core::error has_own_messages() {
  return core::fail(core::ec::internal,
                    "stage 'denoise' has messages of its own");
}

class denoise_by_row final : public planning::any_stage {
public:
  denoise_by_row() {
    row_.name = "denoise";
    row_.place = planning::place::batch;
    row_.hook = planning::hook::each_leg;
    row_.slots = denoise_uses;
  }

  const planning::stage_row& row() const override {
    return row_;
  }

  core::result<std::optional<core::typed_body>> begin(
    const planning::row_view&) const override {
    return has_own_messages();
  }

  core::timespan takes(const core::typed_body&,
                       const planning::profile&) const override {
    return core::timespan{0};
  }

  bool is_short(const core::typed_body&) const override {
    return false;
  }

  core::result<core::typed_body> run(const core::typed_body&,
                                     planning::worker_context&) const override {
    return has_own_messages();
  }

  core::result<void> end(const core::typed_body&,
                         planning::facts&) const override {
    return has_own_messages();
  }

private:
  planning::stage_row row_;
};

} // namespace

planning::stage_ptr denoise_stage() {
  return std::make_shared<const denoise_by_row>();
}

} // namespace atelier::actors
