// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/device_kind.hpp>
#include <atelier/core/guarded.hpp>
#include <atelier/runtime/host_stages.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace atelier::runtime {

namespace {

/// A host's stage, which may be any class of the host's own.
class bordered_stage final : public planning::any_stage {
  template <class F>
  auto asked(std::string_view function, F f) const {
    return core::guarded("stage", name_, function, std::move(f));
  }

public:
  /// Throws what `own->row()` throws.
  explicit bordered_stage(planning::stage_ptr own)
    : own_(std::move(own)), row_(own_->row()) {
    name_ = row_.name;
    slots_.assign(row_.slots.begin(), row_.slots.end());
    row_.name = name_;
    row_.slots = slots_;
  }

  const planning::stage_row& row() const override {
    return row_;
  }

  core::result<std::optional<core::typed_body>> begin(
    const planning::row_view& row) const override {
    return asked("begin", [&] { return own_->begin(row); });
  }

  core::timespan takes(const core::typed_body& order,
                       const planning::profile& costs) const override {
    const auto said = asked("takes", [&]() -> core::result<core::timespan> {
      return own_->takes(order, costs);
    });
    return said ? std::max(*said, core::timespan{0}) : core::timespan{0};
  }

  bool is_short(const core::typed_body& order) const override {
    const auto said = asked("is_short", [&]() -> core::result<bool> {
      return own_->is_short(order);
    });
    return said && *said;
  }

  core::result<core::extent> px(const core::typed_body& order) const override {
    return asked("px", [&] { return own_->px(order); });
  }

  core::result<core::typed_body> run(
    const core::typed_body& order,
    planning::worker_context& here) const override {
    return asked("run", [&] { return own_->run(order, here); });
  }

  core::result<void> end(const core::typed_body& outcome,
                         planning::facts& known) const override {
    return asked("end", [&] { return own_->end(outcome, known); });
  }

private:
  planning::stage_ptr own_;
  std::string name_;
  std::vector<planning::slot_use> slots_;
  planning::stage_row row_;
};

core::result<actors::added_stage> admit(const host_stage& x) {
  if (x.stage == nullptr)
    return core::fail(core::ec::bad_config, "is null");
  auto made = core::guarded(
    "its function", "row", {}, [&]() -> core::result<actors::added_stage> {
      return actors::added_stage{
        std::make_shared<const bordered_stage>(x.stage), x.after};
    });
  if (made && !config::is_kind_name(made->stage->row().name))
    return core::fail(core::ec::bad_config,
                      "its name '{}' is not 1..64 of the characters a-z, "
                      "A-Z, 0-9, ., _ and -",
                      made->stage->row().name);
  return made;
}

} // namespace

core::result<std::vector<actors::added_stage>> host_stages(
  const std::vector<host_stage>& own) {
  std::vector<actors::added_stage> out;
  std::string faults;
  for (size_t i = 0; i < own.size(); ++i)
    if (auto made = admit(own[i]))
      out.push_back(std::move(*made));
    else
      faults += fmt::format("{}extensions::stages[{}]: {}",
                            faults.empty() ? "" : "\n", i, made.why().text);
  if (!faults.empty())
    return core::fail(core::ec::bad_config, "{}", faults);
  return out;
}

} // namespace atelier::runtime
