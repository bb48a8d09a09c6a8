// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/image/codec.hpp>
#include <atelier/core/image/parameters.hpp>
#include <atelier/core/image/png_texts.hpp>
#include <atelier/runtime/http/detail/a1111/a1111_lists.hpp>
#include <atelier/runtime/http/detail/a1111/foreign_infotext.hpp>

#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

namespace atelier::runtime::http::detail {

namespace {

reply_json model_line(const std::string& name) {
  return {{"title", name},     {"model_name", name}, {"hash", nullptr},
          {"sha256", nullptr}, {"filename", name},   {"config", nullptr}};
}

} // namespace

reply_json a1111_samplers() {
  auto all = reply_json::array();
  for (const auto x : core::samplers_of_webui) {
    auto aliases = reply_json::array();
    aliases.push_back(core::to_string(x));
    all.push_back({{"name", core::webui_name(x)},
                   {"aliases", aliases},
                   {"options", reply_json::object()}});
  }
  return all;
}

reply_json a1111_schedulers() {
  auto all = reply_json::array();
  for (const auto& [name, label] :
       {std::pair{"automatic", "Automatic"}, std::pair{"uniform", "Uniform"},
        std::pair{"sgm_uniform", "SGM Uniform"}, std::pair{"karras", "Karras"}})
    all.push_back({{"name", name},
                   {"label", label},
                   {"aliases", nullptr},
                   {"default_rho", name == std::string_view{"karras"} ? 7 : -1},
                   {"need_inner_model", false}});
  return all;
}

reply_json a1111_models(const std::vector<variant_status>& known) {
  auto all = reply_json::array();
  std::vector<std::string> told;
  const auto tell = [&](const std::string& name) {
    if (std::find(told.begin(), told.end(), name) != told.end())
      return;
    told.push_back(name);
    all.push_back(model_line(name));
  };
  for (const auto& v : known)
    tell(v.model);
  for (const auto& v : known)
    tell(v.name);
  return all;
}

reply_json a1111_upscalers() {
  auto all = reply_json::array();
  all.push_back({{"name", "None"},
                 {"model_name", nullptr},
                 {"model_path", nullptr},
                 {"model_url", nullptr},
                 {"scale", 1}});
  return all;
}

reply_json a1111_memory() {
  struct sysinfo machine {};

  uint64_t total = 0;
  uint64_t free = 0;
  if (sysinfo(&machine) == 0) {
    total = uint64_t{machine.totalram} * machine.mem_unit;
    free = uint64_t{machine.freeram} * machine.mem_unit;
  }
  uint64_t size = 0;
  uint64_t resident = 0;
  std::ifstream{"/proc/self/statm"} >> size >> resident;
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return {
    {"ram", {{"free", free}, {"used", resident * page}, {"total", total}}},
    {"cuda", {{"error", "not known to this server"}}}};
}

reply_json a1111_png_info(const std::vector<uint8_t>& file) {
  auto text = image::read_text(file).value_or("");
  auto parsed = reply_json::object();
  auto items = reply_json::object();
  if (!text.empty())
    items["parameters"] = text;
  const auto all = image::read_png_texts(file);
  for (const auto& [name, value] : all)
    if (!items.contains(name))
      items[name] = value;
  if (text.empty())
    text = foreign_infotext(all);
  if (!text.empty()) {
    const auto told = image::parse_parameters(text);
    parsed["Prompt"] = told.prompt;
    parsed["Negative prompt"] = told.negative;
    for (const auto& [name, value] : told.fields)
      parsed[name] = value;
  }
  return {{"info", text}, {"items", items}, {"parameters", parsed}};
}

} // namespace atelier::runtime::http::detail
