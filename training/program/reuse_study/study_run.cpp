// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/image/codec.hpp>
#include <atelier/core/sha256.hpp>
#include <atelier/core/text_file.hpp>
#include <atelier/planning/profile_file.hpp>
#include <atelier/runtime/cli/atomic_file.hpp>
#include <atelier/training/program/reuse_study/study_engine.hpp>
#include <atelier/training/program/reuse_study/study_run.hpp>
#include <atelier/training/quality/caption_score.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>

namespace atelier::runtime::reuse_study {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using core::ec;
using core::fail;
using core::result;

constexpr auto keep_patience = 60s;
constexpr size_t most_plan_bytes = 1 << 20;
constexpr size_t most_image_bytes = 256 << 20;

/// Fills the cache with which every system begins.
constexpr study_system warming{
  .name = "warmed", .policy = "nirvana", .found = found_entries::nearest};

double ms(std::chrono::nanoseconds x) {
  return std::chrono::duration<double, std::milli>(x).count();
}

result<void> write(const fs::path& file, std::string_view text) {
  return cli::write_file(
    file, {reinterpret_cast<const uint8_t*>(text.data()), text.size()},
    core::on_existing::replace);
}

/// Returns the root mean square difference of two images, 0..1; nothing if they
/// differ in size.
std::optional<double> distance_of(const image::bitmap& a,
                                  const image::bitmap& b) {
  if (a.px != b.px || a.bytes.size() != b.bytes.size() || a.bytes.empty())
    return std::nullopt;
  double sum = 0;
  for (size_t i = 0; i < a.bytes.size(); ++i) {
    const auto x = (double{1} * a.bytes[i] - b.bytes[i]) / 255;
    sum += x * x;
  }
  return std::sqrt(sum / static_cast<double>(a.bytes.size()));
}

/// Describes a plan, so that another plan is not continued in its folder.
std::string text_of(const study_plan& x) {
  auto set = x.set;
  std::erase_if(set, [](const auto& y) { return y.starts_with("log."); });
  nlohmann::ordered_json out{{"format", "atelier.reuse-study"},
                             {"version", 1},
                             {"variant", x.variant},
                             {"small", x.small},
                             {"turbo", x.turbo},
                             {"warm", x.warm},
                             {"measured", x.measured},
                             {"seed", x.seed},
                             {"width", x.px.width},
                             {"height", x.px.height},
                             {"set", set},
                             {"config", x.config_file}};
  if (!x.texts.empty()) {
    out["texts"] = x.texts.size();
    core::sha256_stream all;
    for (const auto& text : x.texts)
      all.update(std::as_bytes(std::span{text.c_str(), text.size() + 1}));
    out["sha256"] = core::to_hex(all.finish());
  }
  return out.dump(2) + "\n";
}

result<void> copy_folder(const fs::path& from, const fs::path& to) {
  std::error_code error;
  const auto part = fs::path{to.string() + ".part"};
  fs::remove_all(part, error);
  fs::copy(from, part, fs::copy_options::recursive, error);
  if (!error)
    fs::rename(part, to, error);
  if (error)
    return fail(ec::io_failed, "{}: {}", to.string(), error.message());
  return {};
}

class study {
public:
  study(const study_plan& plan, study_setup setup, const study_listener& told)
    : plan_(plan),
      told_(told),
      requests_(requests_of(plan)),
      cache_(plan.folder / "cache") {
    out_.setup = std::move(setup);
    of_ = plan.warm + plan.systems.size() * size_t{plan.measured};
  }

  result<study_results> run() {
    if (auto ok = begin(); !ok)
      return ok.why();
    const auto uses_cache = std::ranges::any_of(
      plan_.systems, [](auto* x) { return x->found != found_entries::none; });
    if (uses_cache && plan_.warm > 0)
      if (auto ok = fill(); !ok)
        return ok.why();
    for (const auto* x : plan_.systems)
      if (auto ok = measure(*x); !ok)
        return ok.why();
    return std::move(out_);
  }

private:
  /// Makes the folder, or checks that it is of this plan.
  result<void> begin() {
    std::error_code error;
    fs::create_directories(plan_.folder / full_system, error);
    if (!error)
      fs::create_directories(cache_, error);
    if (error)
      return fail(ec::io_failed, "{}: {}", plan_.folder.string(),
                  error.message());
    const auto file = plan_.folder / "plan.json";
    const auto text = text_of(plan_);
    if (!fs::exists(file, error)) {
      if (auto ok = write(file, text); !ok)
        return ok;
    } else {
      const auto there =
        core::read_text_file(file, most_plan_bytes, file.string());
      if (!there)
        return there.why();
      if (*there != text)
        return fail(ec::invalid_argument,
                    "{} is of another evaluation: continue it with its own "
                    "options, or name another folder",
                    plan_.folder.string());
    }
    if (auto ok = write(profile_of(compared_by::tower),
                        planning::to_json(out_.setup.costs));
        !ok)
      return ok;
    // Thresholds are of one encoder; by another one, those of the paper hold.
    auto published = out_.setup.costs;
    published.reuse->latents.clear();
    published.reuse->measured.reset();
    return write(profile_of(compared_by::words), planning::to_json(published));
  }

  fs::path profile_of(compared_by encoder) const {
    return plan_.folder
         / (encoder == compared_by::tower ? "profile.json"
                                          : "profile-words.json");
  }

  fs::path image_of(uint64_t number) const {
    return plan_.folder / full_system / fmt::format("{:06}.png", number);
  }

  result<void> fill() {
    auto log = study_log::open(plan_.folder / "warmed.jsonl");
    if (!log)
      return log.why();
    if (log->lines().size() < plan_.warm)
      if (auto ok = answer(warming, *log, 0, plan_.warm); !ok)
        return ok;
    for (const auto& x : log->lines())
      if (x.stored)
        warmed_.push_back(x.prompt);
    done_ += plan_.warm;
    return {};
  }

  result<void> measure(const study_system& system) {
    auto log =
      study_log::open(plan_.folder / fmt::format("{}.jsonl", system.name));
    if (!log)
      return log.why();
    const auto own = cache_ / system.name;
    if (log->lines().size() < plan_.measured) {
      std::error_code error;
      if (system.found != found_entries::none && plan_.warm > 0
          && !fs::exists(own, error))
        if (auto ok = copy_folder(cache_ / warming.name, own); !ok)
          return ok;
      if (auto ok = answer(system, *log, plan_.warm, plan_.measured); !ok)
        return ok;
    }
    std::error_code ignored;
    fs::remove_all(own, ignored);
    done_ += plan_.measured;
    out_.systems.emplace_back(&system, log->lines());
    return {};
  }

  /// Answers the requests from `first` on that the log does not have yet.
  result<void> answer(const study_system& system, study_log& log, size_t first,
                      size_t count) {
    const bool fills = &system == &warming;
    auto texts = fills ? std::vector<std::string>{} : warmed_;
    for (const auto& x : log.lines())
      if (x.stored)
        texts.push_back(x.prompt);
    const auto logged = texts.size();
    const auto at = [&] { return requests_[first + log.lines().size()]; };
    auto started = study_engine::start(
      {plan_, out_.setup, system, cache_ / system.name,
       profile_of(system.encoder), texts, log.lines().size(), fills});
    if (!started)
      return fail(started.why().code, "{}: {}", system.name,
                  started.why().text);
    auto& engine = **started;
    const auto kept = engine.entries();
    if (system.found != found_entries::none && kept != logged
        && kept != logged + 1)
      return fail(ec::bad_payload,
                  "{}: the cache has {} entries, and the answers left {}: "
                  "remove the folder and begin again",
                  system.name, kept, logged);
    bool is_kept = system.found != found_entries::none && kept == logged + 1;
    while (log.lines().size() < count) {
      const auto goes_on = [&] {
        return told_(std::string{system.name}, done_ + log.lines().size(), of_);
      };
      if (!goes_on())
        return fail(ec::cancelled, "interrupted");
      auto line =
        draw(engine, system, at(), log.lines().size(), is_kept, fills, goes_on);
      if (!line)
        return fail(line.why().code, "{}: request {}: {}", system.name,
                    log.lines().size(), line.why().text);
      if (is_kept)
        engine.cache()->know(line->prompt);
      is_kept = false;
      if (auto ok = log.append(std::move(*line)); !ok)
        return ok;
    }
    return {};
  }

  /// @param is_kept the request was answered and kept before a stop that lost
  ///        its line: it was drawn from noise
  result<answered_line> draw(study_engine& engine, const study_system& system,
                             const study_request& of, uint64_t number,
                             bool is_kept, bool fills,
                             const std::function<bool()>& goes_on) {
    auto* const cache = engine.cache();
    if (cache != nullptr)
      cache->begin_request();
    if (auto* const any = engine.any_entry())
      any->expect(number, similarity_of_nirvana(number));
    auto wanted = generation_of(system, of, number);
    wanted.cache = cache == nullptr || is_kept ? "off" : fills ? "write" : "on";
    const auto made = engine.draw(wanted, goes_on);
    if (!made)
      return made.why();
    answered_line out;
    out.number = number;
    out.prompt = of.prompt;
    out.seed = of.seed;
    out.session = of.session;
    out.change = of.change;
    out.route = made->route;
    if (made->reused) {
      out.reused = made->reused->kind;
      out.skipped = made->reused->steps;
      out.similarity = made->reused->similarity;
    }
    if (cache != nullptr)
      out.nearest = cache->nearest();
    out.steps_run = made->steps_run;
    out.text_ms = ms(made->took.text);
    out.denoise_ms = ms(made->took.denoise);
    out.decode_ms = ms(made->took.decode);
    out.total_ms = ms(made->took.total);
    if (cache != nullptr && !made->reused) {
      const auto kept =
        is_kept ? std::optional{true} : cache->wait_until_kept(keep_patience);
      if (!kept)
        return fail(ec::unavailable, "its work was not kept within {} s",
                    keep_patience.count());
      out.stored = *kept;
    }
    if (!fills)
      if (auto ok = judge(system, of, *made, out); !ok)
        return ok.why();
    return out;
  }

  generation generation_of(const study_system& system, const study_request& of,
                           uint64_t number) const {
    generation out;
    out.prompt = of.prompt;
    out.seed = of.seed;
    out.width = plan_.px.width;
    out.height = plan_.px.height;
    if (system.request == asked_for::turbo)
      out.variant = plan_.turbo;
    if (system.request == asked_for::fewer_steps) {
      uint64_t steps = 0;
      for (const auto& x : lines_of("nirvana"))
        steps += x.steps_run;
      out.steps = share_of_steps(steps, number, plan_.measured);
    }
    return out;
  }

  const std::vector<answered_line>& lines_of(std::string_view name) const {
    const auto at = std::ranges::find_if(
      out_.systems, [&](const auto& x) { return x.first->name == name; });
    ATELIER_EXPECTS(at != out_.systems.end(), "the system ran before");
    return at->second;
  }

  std::optional<double> similarity_of_nirvana(uint64_t number) const {
    const auto& line = lines_of("nirvana")[number];
    return line.reused.empty() ? std::nullopt : std::optional{line.similarity};
  }

  /// Fills in what the image shows, and its distance from the full run's.
  result<void> judge(const study_system& system, const study_request& of,
                     const generated_image& made, answered_line& into) const {
    const auto shown = image::decode_colours(made.bytes);
    if (!shown)
      return shown.why();
    if (of.says) {
      const auto score =
        gpu::score_image(gpu::check_image(shown->view()), *of.says);
      into.objects_said = score.objects.said;
      into.objects_right = score.objects.right;
    }
    const auto file = image_of(into.number);
    if (system.name == full_system)
      return cli::write_file(file, made.bytes, core::on_existing::replace);
    std::error_code error;
    if (!fs::exists(file, error))
      return {};
    const auto bytes =
      core::read_text_file(file, most_image_bytes, file.string());
    if (!bytes)
      return bytes.why();
    const auto full = image::decode_colours(
      {reinterpret_cast<const uint8_t*>(bytes->data()), bytes->size()});
    if (!full)
      return full.why();
    into.distance = distance_of(*shown, *full);
    return {};
  }

  const study_plan& plan_;
  const study_listener& told_;
  const std::vector<study_request> requests_;
  const fs::path cache_;
  /// The texts whose work the warmed cache has.
  std::vector<std::string> warmed_;
  study_results out_;
  size_t done_ = 0;
  size_t of_ = 0;
};

} // namespace

uint32_t share_of_steps(uint64_t steps, uint64_t number, uint64_t count) {
  const auto until = [&](uint64_t n) { return steps * n / count; };
  return static_cast<uint32_t>(
    std::max<uint64_t>(1, until(number + 1) - until(number)));
}

result<study_results> run_study(const study_plan& plan,
                                const study_listener& told) {
  auto setup = read_setup(plan);
  if (!setup)
    return setup.why();
  return study{plan, std::move(*setup), told}.run();
}

} // namespace atelier::runtime::reuse_study
