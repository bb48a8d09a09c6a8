// SPDX-License-Identifier: Apache-2.0
#include <atelier/training/program/reuse_study/answered_line.hpp>

#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace atelier::runtime::reuse_study {

namespace {

using core::ec;
using core::fail;
using core::result;
using json = nlohmann::ordered_json;

std::string text_of(const answered_line& x) {
  json out{{"number", x.number},
           {"prompt", x.prompt},
           {"seed", x.seed},
           {"session", x.session},
           {"change", x.change},
           {"route", x.route},
           {"reused", x.reused},
           {"skipped", x.skipped},
           {"similarity", x.similarity},
           {"steps_run", x.steps_run},
           {"text_ms", x.text_ms},
           {"denoise_ms", x.denoise_ms},
           {"decode_ms", x.decode_ms},
           {"total_ms", x.total_ms},
           {"stored", x.stored},
           {"objects_said", x.objects_said},
           {"objects_right", x.objects_right}};
  if (x.nearest)
    out["nearest"] = *x.nearest;
  if (x.distance)
    out["distance"] = *x.distance;
  return out.dump();
}

// Throws what nlohmann::json throws.
answered_line line_of(const json& x) {
  answered_line out;
  x.at("number").get_to(out.number);
  x.at("prompt").get_to(out.prompt);
  x.at("seed").get_to(out.seed);
  x.at("session").get_to(out.session);
  x.at("change").get_to(out.change);
  x.at("route").get_to(out.route);
  x.at("reused").get_to(out.reused);
  x.at("skipped").get_to(out.skipped);
  x.at("similarity").get_to(out.similarity);
  x.at("steps_run").get_to(out.steps_run);
  x.at("text_ms").get_to(out.text_ms);
  x.at("denoise_ms").get_to(out.denoise_ms);
  x.at("decode_ms").get_to(out.decode_ms);
  x.at("total_ms").get_to(out.total_ms);
  x.at("stored").get_to(out.stored);
  x.at("objects_said").get_to(out.objects_said);
  x.at("objects_right").get_to(out.objects_right);
  if (x.contains("nearest"))
    out.nearest = x.at("nearest").get<double>();
  if (x.contains("distance"))
    out.distance = x.at("distance").get<double>();
  return out;
}

} // namespace

result<study_log> study_log::open(const std::filesystem::path& file) {
  study_log out;
  out.file_ = file;
  std::error_code error;
  if (!std::filesystem::exists(file, error))
    return out;
  std::ifstream from{file, std::ios::binary};
  std::stringstream all;
  all << from.rdbuf();
  if (!from)
    return fail(ec::io_failed, "{}: it cannot be read", file.string());
  const auto text = all.str();
  size_t begin = 0;
  for (auto end = text.find('\n'); end != std::string::npos;
       end = text.find('\n', begin)) {
    const auto place = out.lines_.size();
    try {
      out.lines_.push_back(line_of(
        json::parse(std::string_view{text}.substr(begin, end - begin))));
    } catch (const json::exception& x) {
      return fail(ec::bad_payload, "{}: line {}: {}", file.string(), place + 1,
                  x.what());
    }
    if (out.lines_.back().number != place)
      return fail(ec::bad_payload,
                  "{}: line {}: number {} is not its place, {}", file.string(),
                  place + 1, out.lines_.back().number, place);
    begin = end + 1;
  }
  if (begin < text.size()) {
    std::filesystem::resize_file(file, begin, error);
    if (error)
      return fail(ec::io_failed, "{}: {}", file.string(), error.message());
  }
  return out;
}

result<void> study_log::append(answered_line x) {
  std::ofstream to{file_, std::ios::binary | std::ios::app};
  to << text_of(x) << '\n' << std::flush;
  if (!to)
    return fail(ec::io_failed, "{}: it cannot be written", file_.string());
  lines_.push_back(std::move(x));
  return {};
}

} // namespace atelier::runtime::reuse_study
