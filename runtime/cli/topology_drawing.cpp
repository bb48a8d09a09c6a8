// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/device_kind.hpp>
#include <atelier/core/markup.hpp>
#include <atelier/runtime/cli/topology_drawing.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace atelier::runtime::cli {

namespace {

using config::process_mode;

std::string bytes_text(uint64_t bytes) {
  constexpr uint64_t kib = 1024;
  constexpr uint64_t mib = kib * kib;
  if (bytes >= mib)
    return fmt::format("{:.4g} MiB", static_cast<double>(bytes) / mib);
  return fmt::format("{:.4g} KiB", static_cast<double>(bytes) / kib);
}

std::string counted(uint64_t n, std::string_view one) {
  return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
}

std::string pool_line(std::string_view name, const config::pool_settings& x) {
  return fmt::format("{}: {}, {} each", name, counted(x.workers, "worker"),
                     counted(x.seats, "seat"));
}

std::string cores_line(std::string_view cores) {
  return cores.empty() ? "all cores" : fmt::format("cores {}", cores);
}

topology_part device_part(const config::device_settings& d, bool split) {
  topology_part out;
  out.name = d.name;
  out.lines.push_back(fmt::format("denoise step: {}, {} a batch",
                                  counted(d.seats, "seat"),
                                  counted(d.max_batch, "row")));
  auto how = fmt::format("executor {}", d.executor);
  if (d.threads > 0)
    how += ", " + counted(d.threads, "thread");
  if (split)
    how += ", " + cores_line(d.cores);
  out.lines.push_back(how);
  out.lines.push_back("kind " + config::device_kind(d));
  if (d.variants.empty())
    out.lines.emplace_back("hosts the shipped family, or the test card");
  for (const auto& v : d.variants)
    out.lines.push_back("hosts " + v);
  return out;
}

constexpr int margin = 20;
constexpr int box_width = 300;
constexpr int line_height = 18;
constexpr int gap = 16;
constexpr int column = 380;

int height_of(const topology_part& x) {
  return static_cast<int>(x.lines.size() + 1) * line_height + 20;
}

std::string box(const topology_part& x, int left, int top, int height,
                std::string_view fill) {
  std::string out = fmt::format(
    "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\" fill=\"{}\" "
    "stroke=\"#444\"/>\n",
    left, top, box_width, height, fill);
  auto y = top + 22;
  const auto line = [&](const std::string& text, std::string_view weight) {
    fmt::format_to(std::back_inserter(out),
                   "<text x=\"{}\" y=\"{}\" font-weight=\"{}\">{}</text>\n",
                   left + 12, y, weight, core::escape_html(text));
    y += line_height;
  };
  line(x.name, "bold");
  for (const auto& text : x.lines)
    line(text, "normal");
  return out;
}

} // namespace

topology topology_of(const config::settings& x) {
  const bool split = x.processes.mode == process_mode::split;
  topology out;
  out.title = split ? fmt::format("{} processes, joined only by shared memory",
                                  x.devices.size() + 2)
                    : std::string{"one process"};
  topology_part control{
    "control",
    {"scheduler, monitor, planner, supervisor",
     fmt::format("policy {}, batching {}", x.policy.name, x.scheduler.batching),
     fmt::format("at most {} requests, {} waiting", x.limits.requests,
                 fmt::format("{:g} s", core::to_seconds(x.limits.queue)))}};
  out.parts.push_back(std::move(control));
  topology_part cpu{"cpu",
                    {pool_line("preprocess", x.preprocess),
                     pool_line("postprocess", x.postprocess)}};
  if (split)
    cpu.lines.push_back(cores_line(x.processes.cpu_cores));
  out.parts.push_back(std::move(cpu));
  for (const auto& d : x.devices)
    out.parts.push_back(device_part(d, split));
  const auto& a = x.arena;
  const auto slots = [&](uint32_t n, uint64_t bytes, std::string_view what) {
    if (n > 0)
      out.shared.push_back(
        fmt::format("{} of {}", counted(n, what), bytes_text(bytes)));
  };
  slots(a.state_slots, a.state_slot_bytes, "state slot");
  slots(a.image_slots, a.image_slot_bytes, "image slot");
  slots(a.capture_slots, a.capture_slot_bytes, "capture slot");
  if (split)
    out.shared.push_back(fmt::format("{} of rings of {}",
                                     counted(x.devices.size() + 1, "pair"),
                                     bytes_text(a.ring_bytes)));
  return out;
}

std::string to_text(const topology& x) {
  std::string out = x.title + "\n";
  const auto add = [&](const std::string& line) {
    out += line;
    out += '\n';
  };
  const auto part = [&](const topology_part& p, std::string_view first,
                        std::string_view rest) {
    size_t width = 10;
    add(fmt::format("{}{:<{}} {}", first, p.name, width,
                    p.lines.empty() ? "" : p.lines.front()));
    for (size_t i = 1; i < p.lines.size(); ++i)
      add(fmt::format("{}{:<{}} {}", rest, "", width, p.lines[i]));
  };
  add("");
  part(x.parts.front(), "", "");
  add("  |");
  for (size_t i = 0; i < x.shared.size(); ++i)
    add(fmt::format("  {} {:<8} {}", i == 0 ? '#' : '|', i == 0 ? "arena" : "",
                    x.shared[i]));
  for (size_t i = 1; i < x.parts.size(); ++i) {
    add("  |");
    part(x.parts[i], "  +-- ", i + 1 < x.parts.size() ? "  |   " : "      ");
  }
  return out;
}

std::string to_svg(const topology& x) {
  int right = margin;
  for (size_t i = 1; i < x.parts.size(); ++i)
    right += height_of(x.parts[i]) + gap;
  topology_part arena{"arena", x.shared};
  const auto& control = x.parts.front();
  const auto control_height = height_of(control);
  const auto arena_height = height_of(arena);
  const auto left = margin + control_height + 3 * gap + arena_height + gap;
  const auto top = 30;
  const auto height = top + std::max(left, right);
  std::string out = fmt::format(
    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
    "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"13\">\n"
    "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    "<text x=\"{2}\" y=\"24\" font-size=\"15\">{3}</text>\n",
    margin + column + box_width + margin, height, margin,
    core::escape_html(x.title));
  const auto control_top = top + margin - 6;
  const auto arena_top = control_top + control_height + 3 * gap;
  const auto line = [&](int x1, int y1, int x2, int y2) {
    fmt::format_to(std::back_inserter(out),
                   "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" "
                   "stroke=\"#888\" stroke-width=\"2\"/>\n",
                   x1, y1, x2, y2);
  };
  line(margin + box_width / 2, control_top + control_height,
       margin + box_width / 2, arena_top);
  auto y = control_top;
  std::string boxes =
    box(control, margin, control_top, control_height, "#eef3fb")
    + box(arena, margin, arena_top, arena_height, "#f6f6ee");
  for (size_t i = 1; i < x.parts.size(); ++i) {
    const auto h = height_of(x.parts[i]);
    line(margin + box_width, arena_top + arena_height / 2, margin + column,
         y + h / 2);
    boxes +=
      box(x.parts[i], margin + column, y, h, i == 1 ? "#eef3fb" : "#eaf6ec");
    y += h + gap;
  }
  return out + boxes + "</svg>\n";
}

} // namespace atelier::runtime::cli
