// SPDX-License-Identifier: Apache-2.0
#include <atelier/planning/detail/evidence_section.hpp>

#include <fmt/format.h>

#include <utility>

namespace atelier::planning::detail {

namespace {

constexpr uint64_t most_skip = 10'000;
/// What images keep is counted by the gain of full runs, which may be tiny.
constexpr double least_kept = -1e6;
constexpr double most_kept = 1e6;

void read_words(json_reader& r, const json& x, const std::string& at,
                const char* key, std::string& into) {
  const auto* text = r.find(x, at, key, true);
  if (text == nullptr)
    return;
  if (text->is_string())
    into = text->get<std::string>();
  else
    r.complain(fmt::format("{}.{}", at, key),
               fmt::format("{} is not a text", json_reader::shown(*text)));
}

skip_evidence read_skip(json_reader& r, const json& x, const std::string& at) {
  skip_evidence out;
  if (!x.is_object()) {
    r.complain(at, "is not an object");
    return out;
  }
  r.expect_keys(x, at, {"skip", "images", "kept", "lowest_kept"});
  r.whole(x, at, "skip", 1, most_skip, out.skip);
  r.whole(x, at, "images", 1, most_samples, out.images);
  r.real(x, at, "kept", least_kept, most_kept, out.kept);
  if (r.find(x, at, "lowest_kept", false) != nullptr)
    r.real(x, at, "lowest_kept", 0, 1, out.lowest_kept.emplace());
  return out;
}

answer_evidence read_answers(json_reader& r, const json& x,
                             const std::string& at) {
  answer_evidence out;
  if (!x.is_object()) {
    r.complain(at, "is not an object");
    return out;
  }
  r.expect_keys(x, at, {"images", "kept"});
  r.whole(x, at, "images", 1, most_samples, out.images);
  r.real(x, at, "kept", least_kept, most_kept, out.kept);
  return out;
}

} // namespace

reuse_evidence read_evidence(json_reader& r, const json& x,
                             const std::string& at) {
  reuse_evidence out;
  if (!x.is_object()) {
    r.complain(at, "is not an object");
    return out;
  }
  r.expect_keys(x, at,
                {"encoder", "encoder_revision", "scorer", "alpha", "stored",
                 "resumed", "skips", "answers"});
  read_words(r, x, at, "encoder", out.encoder);
  read_words(r, x, at, "encoder_revision", out.encoder_revision);
  read_words(r, x, at, "scorer", out.scorer);
  r.real(x, at, "alpha", 0, 1, out.alpha);
  r.whole(x, at, "stored", 1, most_samples, out.stored);
  r.whole(x, at, "resumed", 1, most_samples, out.resumed);
  if (const auto* answers = r.find(x, at, "answers", false))
    out.answers = read_answers(r, *answers, at + ".answers");
  const auto* skips = r.find(x, at, "skips", true);
  if (skips == nullptr)
    return out;
  if (!skips->is_array()) {
    r.complain(at + ".skips", "is not a list");
    return out;
  }
  for (size_t i = 0; i < skips->size(); ++i) {
    const auto here = fmt::format("{}.skips[{}]", at, i);
    const auto one = read_skip(r, (*skips)[i], here);
    if (!out.skips.empty() && one.skip <= out.skips.back().skip)
      r.complain(here, "skips no more than the one before");
    out.skips.push_back(one);
  }
  return out;
}

json evidence_json(const reuse_evidence& x) {
  auto skips = json::array();
  for (const auto& one : x.skips) {
    skips.push_back(
      {{"skip", one.skip}, {"images", one.images}, {"kept", one.kept}});
    if (one.lowest_kept)
      skips.back()["lowest_kept"] = *one.lowest_kept;
  }
  json out = {
    {"encoder", x.encoder},     {"encoder_revision", x.encoder_revision},
    {"scorer", x.scorer},       {"alpha", x.alpha},
    {"stored", x.stored},       {"resumed", x.resumed},
    {"skips", std::move(skips)}};
  if (x.answers)
    out["answers"] = {{"images", x.answers->images}, {"kept", x.answers->kept}};
  return out;
}

} // namespace atelier::planning::detail
