// SPDX-License-Identifier: Apache-2.0
#include <atelier/core/json_text.hpp>
#include <atelier/runtime/http/detail/jobs/journal_json.hpp>
#include <atelier/runtime/http/note_json.hpp>
#include <atelier/runtime/http/prompt_class_json.hpp>
#include <atelier/runtime/http/reuse_json.hpp>
#include <atelier/runtime/http/timings_json.hpp>
#include <atelier/runtime/public_parameters.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <type_traits>

namespace atelier::runtime::http::detail {

namespace {

using nlohmann::json;
using std::chrono::microseconds;
using std::chrono::system_clock;

/// Returns the JSON as text. Prompts come from JSON and are UTF-8; bytes that
/// are not UTF-8 are replaced.
std::string line_of(const json& x) {
  return core::json_text(x);
}

/// Writes the members of a stored value. The reader below visits the same list
/// of members, so that neither forgets one.
class writer {
public:
  explicit writer(json& to) : to_(to) {}

  template <class T>
  void operator()(const char* name, const T& x) {
    to_[name] = x;
  }

  template <class T>
  void operator()(const char* name, const std::optional<T>& x) {
    if (x)
      to_[name] = *x;
  }

  void operator()(const char* name, uint32_t x, uint32_t) {
    to_[name] = x;
  }

  // False is left out, so that records of requests with chosen seeds keep their
  // old form.
  void operator()(const char* name, bool x) {
    if (x)
      to_[name] = true;
  }

  // An empty list is left out, so that records of images without a ladder
  // keep their old form.
  void operator()(const char* name, const std::vector<ladder_level>& x) {
    if (!x.empty())
      to_[name] = x;
  }

  template <class T>
  void parameter(std::string_view name, const T& x) {
    if (const auto* const value = held(x))
      to_[name] = *value;
  }

private:
  json& to_;
};

class reader {
public:
  explicit reader(const json& from) : from_(from) {}

  template <class T>
  void operator()(const char* name, T& x) {
    from_.at(name).get_to(x);
  }

  template <class T>
  void operator()(const char* name, std::optional<T>& x) {
    if (const auto i = from_.find(name); i != from_.end())
      x = i->get<T>();
  }

  // Older journals lack the member.
  void operator()(const char* name, uint32_t& x, uint32_t otherwise) {
    x = from_.value(name, otherwise);
  }

  // Journals that are older than a parameter lack it.
  template <class T>
  void parameter(std::string_view name, T& x) {
    using value = std::remove_cvref_t<decltype(*held(x))>;
    if (const auto i = from_.find(name); i != from_.end())
      x = i->template get<value>();
  }

  void operator()(const char* name, bool& x) {
    x = from_.value(name, false);
  }

  // Older journals lack the notes of a request.
  void operator()(const char* name, std::vector<note>& x) {
    if (const auto i = from_.find(name); i != from_.end())
      i->get_to(x);
  }

  void operator()(const char* name, std::vector<ladder_level>& x) {
    if (const auto i = from_.find(name); i != from_.end())
      i->get_to(x);
  }

private:
  const json& from_;
};

template <class Visitor, class Generation>
void visit_generation(Visitor& f, Generation& x) {
  f("prompt", x.prompt);
  f("negative", x.negative);
  f("width", x.width);
  f("height", x.height);
  f("native_only", x.native_only);
  f("seed", x.seed);
  f("seed_drawn", x.seed_drawn);
  each_wanted([&](const core::parameter& p, auto, auto member) {
    f.parameter(p.name, x.*member);
  });
  f("model", x.model);
  f("variant", x.variant);
  f("format", x.format);
  f("quality", x.quality);
  f("priority", x.priority);
  f("preview_every", x.preview_every);
  f("notes", x.notes);
  f("trace", x.trace);
}

template <class Visitor, class Image>
void visit_image(Visitor& f, Image& x) {
  f("request", x.request);
  f("format", x.format);
  f("seed", x.seed);
  f("model", x.model);
  f("variant", x.variant);
  f("route", x.route);
  f("steps_run", x.steps_run);
  each_told([&](const core::parameter& p, auto, auto member) {
    f.parameter(p.name, x.*member);
  });
  f("width", x.width);
  f("height", x.height);
  f("drawn_width", x.drawn_width, x.width);
  f("drawn_height", x.drawn_height, x.height);
  f("sha256", x.sha256);
  f("notes", x.notes);
  f("prompt_class", x.prompt_class);
  f("reused", x.reused);
  f("trace", x.trace);
}

constexpr std::array states{job_state::completed, job_state::failed,
                            job_state::cancelled};

job_state read_state(const std::string& name) {
  const auto* const i = std::find_if(
    states.begin(), states.end(), [&](auto x) { return to_string(x) == name; });
  if (i == states.end())
    throw std::out_of_range{"a job ended as " + name};
  return *i;
}

size_t place_of(std::span<const uint8_t> file,
                std::vector<std::span<const uint8_t>>& files) {
  const auto i = std::find_if(files.begin(), files.end(), [&](const auto& x) {
    return std::equal(x.begin(), x.end(), file.begin(), file.end());
  });
  if (i != files.end())
    return static_cast<size_t>(i - files.begin());
  files.push_back(file);
  return files.size() - 1;
}

} // namespace

std::string wanted_text(const job_request& x,
                        std::vector<std::span<const uint8_t>>& files) {
  json all = json::array();
  for (const auto& g : x.images) {
    json one;
    writer write{one};
    visit_generation(write, g);
    if (g.deadline)
      one["deadline_ns"] = g.deadline->count();
    if (!g.image.empty())
      one["image"] = place_of(g.image, files);
    if (!g.mask.empty())
      one["mask"] = place_of(g.mask, files);
    all.push_back(std::move(one));
  }
  return line_of({{"kind", x.kind},
                  {"trace", x.trace},
                  {"request_id", x.request_id},
                  {"pictures", all}});
}

job_request read_wanted(std::string_view text,
                        const std::vector<file_bytes>* files) {
  const auto from = json::parse(text);
  job_request x;
  from.at("kind").get_to(x.kind);
  from.at("trace").get_to(x.trace);
  // Files of version 1 lack the request_id.
  x.request_id = from.value("request_id", std::string{});
  for (const auto& one : from.at("pictures")) {
    generation g;
    reader read{one};
    visit_generation(read, g);
    if (const auto i = one.find("deadline_ns"); i != one.end())
      g.deadline = std::chrono::nanoseconds{i->get<int64_t>()};
    if (const auto i = one.find("image"); i != one.end() && files)
      g.image = files->at(i->get<size_t>());
    if (const auto i = one.find("mask"); i != one.end() && files)
      g.mask = files->at(i->get<size_t>());
    x.images.push_back(std::move(g));
  }
  if (x.images.empty())
    throw std::out_of_range{"a job has no images"};
  return x;
}

std::string end_text(const journalled_end& x) {
  json to{{"state", to_string(x.state)},
          {"completed", wall_number(x.completed)},
          {"code", x.why.code},
          {"text", x.why.text}};
  if (x.started)
    to["started"] = wall_number(*x.started);
  if (!x.cancelled_images.empty())
    to["cancelled_images"] = x.cancelled_images;
  auto& all = to["pictures"] = json::array();
  for (const auto& p : x.images) {
    json one;
    if (p) {
      writer write{one};
      visit_image(write, *p);
      one["timings_ms"] = timings_json(p->took);
    }
    all.push_back(std::move(one));
  }
  return line_of(to);
}

journalled_end read_end(std::string_view text) {
  const auto from = json::parse(text);
  journalled_end x;
  x.state = read_state(from.at("state").get<std::string>());
  x.completed = read_wall(from.at("completed").get<int64_t>());
  from.at("code").get_to(x.why.code);
  from.at("text").get_to(x.why.text);
  if (const auto i = from.find("started"); i != from.end())
    x.started = read_wall(i->get<int64_t>());
  // Older journals have none.
  x.cancelled_images = from.value("cancelled_images", std::vector<uint32_t>{});
  for (const auto& one : from.at("pictures")) {
    auto& to = x.images.emplace_back();
    if (one.is_null())
      continue;
    auto p = std::make_shared<generated_image>();
    reader read{one};
    visit_image(read, *p);
    p->took = read_timings(one.at("timings_ms"));
    to = std::move(p);
  }
  return x;
}

int64_t wall_number(system_clock::time_point x) {
  return std::chrono::duration_cast<microseconds>(x.time_since_epoch()).count();
}

system_clock::time_point read_wall(int64_t x) {
  return system_clock::time_point{
    std::chrono::duration_cast<system_clock::duration>(microseconds{x})};
}

} // namespace atelier::runtime::http::detail
