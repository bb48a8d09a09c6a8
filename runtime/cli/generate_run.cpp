// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/request.hpp>
#include <atelier/runtime/cli/generate_run.hpp>
#include <atelier/runtime/cli/image_json.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/several_images.hpp>

#include <algorithm>
#include <ostream>

namespace atelier::runtime::cli {

namespace {

/// Maximum number of notes printed in a run, so that the output for a file of
/// many prompts stays short.
constexpr size_t most_told = 256;

} // namespace

generate_run::generate_run(const generate_plan& plan, service& makes,
                           interruption& interrupted, const console& terminal)
  : plan_(plan),
    console_(terminal),
    list_({plan.images(),
           [this](uint64_t i) { return request(i); },
           [this](uint64_t i) { return name(i); },
           [this](uint64_t i, const generated_image& x) { deliver(i, x); },
           {}},
          {plan.window, 0, plan.grace}, makes, interrupted, terminal) {}

exit_status generate_run::run() {
  return list_.run();
}

generation generate_run::request(uint64_t index) const {
  auto wanted = plan_.common;
  wanted.prompt = plan_.prompt_of(index);
  wanted.seed = plan_.seed_of(index);
  if (index % plan_.count > 0)
    start_from_noise(wanted);
  return wanted;
}

std::string generate_run::name(uint64_t index) const {
  return fmt::format("image {} of {} (prompt {}, seed {})", index + 1,
                     plan_.images(), show_value(plan_.prompt_of(index)),
                     plan_.seed_of(index));
}

void generate_run::deliver(uint64_t index, const generated_image& x) {
  const auto path = plan_.path_of(index);
  if (auto ok = write_file(path, x.bytes, plan_.existing); !ok) {
    list_.tell(ok.why().text);
    list_.note_failure(index, exit_status::failed);
    // A file name that was taken in the meantime affects only this image; a
    // full disk affects all of them.
    if (ok.why().code != core::ec::invalid_argument)
      list_.stop_early();
    return;
  }
  // A note is printed once in a run, because the images of one prompt share
  // most of them.
  for (const auto& one : x.notes)
    if (told_.size() < most_told && told_.insert(one.text).second)
      list_.tell(fmt::format("note: {}", one.text));
  if (!plan_.json) {
    const double seconds = std::chrono::duration<double>(x.took.total).count();
    const auto with = core::parse_sampler(x.sampler);
    const auto rule = core::parse_name<core::strength_rule>(x.strength_rule);
    const auto most = core::steps_of_share(
      with.value_or(core::sampler::ddim), x.steps, x.strength,
      rule.value_or(core::strength_rule::diffusers));
    // Fewer ran if earlier work saved some, or if the model leaves out steps
    // that its sampler could spread; more if a route draws twice.
    const auto run = std::min(most, x.steps_run);
    const auto steps = run == x.steps ? fmt::to_string(run)
                                      : fmt::format("{} of {}", run, x.steps);
    list_.tell(fmt::format("{}  {}x{}  seed {}  {}  {} steps  {:.2f} s",
                           path.string(), x.width, x.height, x.seed, x.variant,
                           steps, seconds));
    return;
  }
  console_.out << to_json(x, path) << '\n' << std::flush;
  if (console_.out || list_.stopped())
    return;
  if (!reader_has_left())
    list_.tell("cannot write to standard output");
  list_.note_failure(index, exit_status::failed);
  list_.stop_early();
}

} // namespace atelier::runtime::cli
