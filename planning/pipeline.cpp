// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/pipeline.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace atelier::planning {

namespace {

// Calls f(position) for each stage that a request still has to pass after
// `from`, in order. A route without legs passes once through the stages of a
// leg, except that of the steps.
template <class F>
void each_after(const pipeline& stages, const route& along,
                pipeline::position from, F f) {
  const auto runs_in = [&](size_t leg, hook at, size_t first) {
    for (size_t i = first; i < stages.size(); ++i)
      if (const auto& row = stages.at(i).row();
          row.hook == at
          && (leg < along.legs.size() || row.place != place::batch))
        f(pipeline::position{leg, i});
  };
  auto first = from.stage + 1;
  for (size_t leg = from.leg; leg < along.legs.size(); ++leg)
    runs_in(leg, hook::each_leg, std::exchange(first, 0));
  if (along.legs.empty())
    runs_in(0, hook::each_leg, first);
  runs_in(along.legs.size(), hook::before_answer, first);
}

constexpr auto image_kind = static_cast<size_t>(ipc::slot_kind::image);

void count(slot_counts& into, const slot_use& x) {
  ++into[static_cast<size_t>(kind_of(x.name))];
}

const leg* leg_at(const route& along, size_t leg) {
  return leg < along.legs.size() ? &along.legs[leg] : nullptr;
}

constexpr std::string_view background_mark = "@control";

/// A placeholder for a stage that runs in the control process.
class place_holder final : public any_stage {
public:
  /// @param text name and version, as in a signature
  place_holder(std::string text, hook at) : text_(std::move(text)) {
    row_.name = std::string_view{text_}.substr(0, text_.rfind('/'));
    row_.place = place::background;
    row_.hook = at;
  }

  const stage_row& row() const override {
    return row_;
  }

  core::result<std::optional<core::typed_body>> begin(
    const row_view&) const override {
    return std::optional<core::typed_body>{};
  }

  core::timespan takes(const core::typed_body&, const profile&) const override {
    return {};
  }

  bool is_short(const core::typed_body&) const override {
    return false;
  }

  core::result<core::typed_body> run(const core::typed_body&,
                                     worker_context&) const override {
    return core::fail(core::ec::internal,
                      "stage '{}' runs only in the control process", row_.name);
  }

  core::result<void> end(const core::typed_body&, facts&) const override {
    return {};
  }

private:
  std::string text_;
  stage_row row_;
};

bool reads_files(const stage_row& row, const leg* in, bool brings_image) {
  return std::any_of(row.slots.begin(), row.slots.end(), [&](const auto& x) {
    return x.name == held::files && x.mode == access::reads
        && x.applies(in, brings_image);
  });
}

struct states_of_leg {
  uint32_t written = 0;
  bool replaced = false;

  // Returns the slots that a leg needs if it holds none: one for each that it
  // writes, and one more if it replaces one.
  uint32_t needs() const {
    return written + (replaced ? 1u : 0u);
  }
};

// Returns how the stages first..last of a leg use states.
states_of_leg states_of(const pipeline& stages, const route& along, size_t leg,
                        size_t first, size_t last, bool brings_image) {
  const auto due =
    leg < along.legs.size() ? hook::each_leg : hook::before_answer;
  states_of_leg out;
  for (size_t i = first; i <= last && i < stages.size(); ++i) {
    const auto& row = stages.at(i).row();
    if (row.hook != due)
      continue;
    for (const auto& x : row.slots) {
      if (x.name != held::state || !x.applies(leg_at(along, leg), brings_image))
        continue;
      if (x.mode == access::writes)
        ++out.written;
      else if (x.mode == access::replaces)
        out.replaced = true;
    }
  }
  return out;
}

// Returns the number of states that must stay free: as many as the rest of the
// leg takes, and as many as each later leg, which begins without any, needs in
// addition to those that this leg releases.
uint32_t states_beside(const pipeline& stages, const route& along,
                       pipeline::position at, bool brings_image) {
  const auto end = stages.size();
  const auto own =
    states_of(stages, along, at.leg, at.stage, at.stage, brings_image);
  const auto rest =
    states_of(stages, along, at.leg, at.stage + 1, end, brings_image).needs();
  uint32_t later = 0;
  for (auto leg = at.leg + 1; leg <= along.legs.size(); ++leg)
    later = std::max(
      later, states_of(stages, along, leg, 0, end, brings_image).needs());
  const uint32_t replaced = own.replaced ? 1 : 0;
  const auto gives_back =
    states_of(stages, along, at.leg, 0, at.stage, brings_image).written
    + replaced;
  return std::max(rest - std::min(rest, replaced),
                  later - std::min(later, gives_back));
}

} // namespace

core::result<void> pipeline::add(stage_ptr x, std::string_view after) {
  using core::ec;
  if (x == nullptr)
    return core::fail(ec::invalid_argument, "the stage is null");
  const auto& row = x->row();
  if (row.name.empty())
    return core::fail(ec::invalid_argument, "the stage has no name");
  if (find(row.name))
    return core::fail(ec::invalid_argument, "a stage '{}' already exists",
                      row.name);
  auto where = stages_.size();
  if (!after.empty()) {
    const auto before = find(after);
    if (!before)
      return core::fail(ec::invalid_argument,
                        "stage '{}' must follow '{}', which was not found",
                        row.name, after);
    where = *before + 1;
  }
  const auto out_of_order = [&](const stage_ptr& other, size_t i) {
    return i < where ? other->row().hook > row.hook
                     : other->row().hook < row.hook;
  };
  for (size_t i = 0; i < stages_.size(); ++i)
    if (out_of_order(stages_[i], i))
      return core::fail(ec::invalid_argument,
                        "stage '{}' cannot be {} '{}': the order is stages "
                        "before the route, of each leg, before the answer, "
                        "and after the answer",
                        row.name, i < where ? "after" : "before",
                        stages_[i]->row().name);
  if (row.place == place::batch
      && (row.hook != hook::each_leg || denoise_ != stages_.size()))
    return core::fail(ec::invalid_argument,
                      "stage '{}': exactly one stage of each leg runs its "
                      "steps",
                      row.name);
  if (row.place == place::device
      && (row.hook == hook::before_route || row.hook == hook::after_answer))
    return core::fail(ec::invalid_argument,
                      "stage '{}': stages on the devices are those of each leg "
                      "and those before the answer",
                      row.name);
  const bool counted = denoise_ == stages_.size();
  stages_.insert(stages_.begin() + static_cast<std::ptrdiff_t>(where),
                 std::move(x));
  if (stages_[where]->row().place == place::batch)
    denoise_ = where;
  else if (counted || where <= denoise_)
    ++denoise_;
  return {};
}

size_t pipeline::size() const {
  return stages_.size();
}

const any_stage& pipeline::at(size_t i) const {
  return *stages_.at(i);
}

std::optional<size_t> pipeline::find(std::string_view name) const {
  for (size_t i = 0; i < stages_.size(); ++i)
    if (stages_[i]->row().name == name)
      return i;
  return std::nullopt;
}

size_t pipeline::denoise() const {
  return denoise_;
}

std::string pipeline::signature() const {
  std::string out;
  for (const auto& x : stages_)
    out += fmt::format(
      "{}{}/{}{}", out.empty() ? "" : " ", x->row().name, x->row().version,
      x->row().place == place::background ? background_mark : "");
  return out;
}

core::result<pipeline> pipeline::numbered_as(std::string_view signature) const {
  const auto differs = [&] {
    return core::fail(core::ec::incompatible,
                      "this process runs the stages '{}', but the engine '{}'",
                      this->signature(), signature);
  };
  auto mine = stages_.begin();
  const auto skip_background = [&] {
    while (mine != stages_.end() && (*mine)->row().place == place::background)
      ++mine;
  };
  pipeline out;
  std::optional<size_t> on_devices;
  for (auto left = signature; !left.empty();) {
    const auto text = left.substr(0, left.find(' '));
    left.remove_prefix(std::min(text.size() + 1, left.size()));
    skip_background();
    if (text.ends_with(background_mark)) {
      const auto shown = text.substr(0, text.size() - background_mark.size());
      const auto at =
        mine != stages_.end() ? (*mine)->row().hook : hook::after_answer;
      out.stages_.push_back(
        std::make_shared<const place_holder>(std::string{shown}, at));
      continue;
    }
    if (mine == stages_.end()
        || text
             != fmt::format("{}/{}", (*mine)->row().name,
                            (*mine)->row().version))
      return differs();
    if ((*mine)->row().place == place::batch)
      on_devices = out.stages_.size();
    out.stages_.push_back(*mine++);
  }
  skip_background();
  if (mine != stages_.end())
    return differs();
  out.denoise_ = on_devices.value_or(out.stages_.size());
  return out;
}

slot_use pipeline::counted(slot_use x, position at) const {
  if (x.name == held::pixels && x.mode == access::replaces && at.leg > 0
      && at.stage < denoise_
      && stages_[at.stage]->row().hook == hook::each_leg) {
    x.name = held::source;
    x.mode = access::writes;
  }
  return x;
}

slot_counts pipeline::granted(const route& along, position at,
                              bool brings_image) const {
  slot_counts out{};
  for (const auto& x : stages_[at.stage]->row().slots)
    if (x.mode != access::reads && x.name != held::capture
        && x.applies(leg_at(along, at.leg), brings_image))
      count(out, x);
  return out;
}

slot_counts pipeline::reserve(const route& along, position at,
                              bool brings_image) const {
  slot_counts out{};
  slot_counts replaced{};
  // The images up to a stage that reads files, and the slot of its files.
  uint32_t with_files = 0;
  each_after(*this, along, at, [&](position later) {
    const auto* in = leg_at(along, later.leg);
    const auto& row = stages_[later.stage]->row();
    uint32_t beside = 0;
    for (const auto& use : row.slots) {
      if (!use.applies(in, brings_image))
        continue;
      const auto x = counted(use, later);
      if (x.mode == access::writes)
        count(out, x);
      else if (x.mode == access::replaces)
        count(replaced, x);
      if (kind_of(x.name) == ipc::slot_kind::image
          && x.mode == access::replaces)
        ++beside;
    }
    if (reads_files(row, in, brings_image))
      with_files = std::max(with_files, out[image_kind] + beside + 1);
  });
  for (size_t kind = 0; kind < out.size(); ++kind)
    out[kind] += std::min(1u, replaced[kind]);
  out[image_kind] = std::max(out[image_kind], with_files);
  const auto& own = stages_[at.stage]->row();
  for (const auto& x : own.slots)
    if (counted(x, at).mode == access::replaces
        && x.applies(leg_at(along, at.leg), brings_image)) {
      auto& left = out[static_cast<size_t>(kind_of(x.name))];
      left -= std::min(left, 1u);
    }
  out[static_cast<size_t>(ipc::slot_kind::state)] =
    states_beside(*this, along, at, brings_image);
  if (reads_files(own, leg_at(along, at.leg), brings_image))
    out[image_kind] = std::max(out[image_kind], 1u);
  // Slots of captures are granted only if some are free, so none are reserved.
  out[static_cast<size_t>(ipc::slot_kind::capture)] = 0;
  return out;
}

slot_counts pipeline::least(const route& along, bool brings_image) const {
  slot_counts out{};
  const auto legs = along.legs.size();
  const auto count_at = [&](size_t leg, hook at) {
    for (size_t i = 0; i < stages_.size(); ++i) {
      const auto& row = stages_[i]->row();
      if (row.hook != at || (leg >= legs && row.place == place::batch))
        continue;
      const auto takes = granted(along, {leg, i}, brings_image);
      if (takes == slot_counts{}
          && !reads_files(row, leg_at(along, leg), brings_image))
        continue;
      const auto leaves = reserve(along, {leg, i}, brings_image);
      for (size_t kind = 0; kind < out.size(); ++kind)
        out[kind] = std::max(out[kind], takes[kind] + leaves[kind]);
    }
  };
  for (size_t leg = 0; leg < std::max<size_t>(legs, 1); ++leg)
    count_at(leg, hook::each_leg);
  count_at(legs, hook::before_answer);
  return out;
}

} // namespace atelier::planning
