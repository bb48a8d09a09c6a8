// SPDX-License-Identifier: Apache-2.0
#include <atelier/ipc/layout.hpp>
#include <atelier/runtime/cli/build_facts.hpp>
#include <atelier/runtime/cli/doctor.hpp>
#include <atelier/runtime/instruction_set.hpp>
#include <atelier/runtime/shipped_models.hpp>

#include <algorithm>

namespace atelier::runtime::cli {

namespace {

using enum finding::grade;

/// Minimum number of open files for a few dozen workers and clients.
constexpr uint64_t enough_open_files = 1024;

std::string show_bytes(uint64_t bytes) {
  const auto x = static_cast<double>(bytes);
  if (bytes >= 1ull << 30)
    return fmt::format("{:.1f} GiB", x / (1ull << 30));
  return fmt::format("{:.1f} MiB", x / (1ull << 20));
}

std::string show_bytes(const std::optional<uint64_t>& bytes) {
  return bytes ? show_bytes(*bytes) : "unknown";
}

finding cores_of(const system_facts& x) {
  auto found = fmt::format("{} usable, {}", x.cores,
                           x.cpu.empty() ? "of an unknown kind" : x.cpu);
  if (x.core_quota && *x.core_quota < x.cores)
    return {
      "cores", note,
      fmt::format("{}; limited to {:.1f} cores' time", found, *x.core_quota),
      "raise the container's CPU limit, or set threads to match it"};
  return {"cores", ok, std::move(found), ""};
}

finding instructions_of(const system_facts& x, const config::settings& s) {
  std::vector<std::string_view> names;
  for (const auto one : x.instruction_sets)
    names.push_back(core::to_string(one));
  const auto used = instruction_set_of(s, x.instruction_sets);
  if (!used)
    return {"instructions", problem, used.why().text,
            "set processes.instruction_set to one of them, or to \"auto\""};
  return {"instructions", ok,
          fmt::format("{} in use (available: {})", core::to_string(*used),
                      fmt::join(names, ", ")),
          ""};
}

finding memory_of(const system_facts& x) {
  auto found = fmt::format("{}, {} available", show_bytes(x.memory_bytes),
                           show_bytes(x.memory_available_bytes));
  if (x.memory_limit_bytes && x.memory_bytes
      && *x.memory_limit_bytes < *x.memory_bytes)
    found += fmt::format("; limited to {}", show_bytes(*x.memory_limit_bytes));
  return {"memory", ok, std::move(found), ""};
}

uint64_t arena_bytes(const config::arena_settings& x) {
  return ipc::buffers_of(ipc::slot_kind::state) * x.state_slots
         * x.state_slot_bytes
       + x.image_slots * x.image_slot_bytes
       + x.capture_slots * x.capture_slot_bytes;
}

finding shared_memory_of(const system_facts& x, const config::settings& s) {
  const uint64_t needed = arena_bytes(s.arena);
  auto found = fmt::format("the arena takes {}, {} free", show_bytes(needed),
                           show_bytes(x.memory_free_bytes));
  if (x.memory_free_bytes.value_or(needed) >= needed)
    return {"shared memory", ok, std::move(found), ""};
  // A single process takes no more than it uses, and an arena is rarely full.
  const bool split = s.processes.mode == config::process_mode::split;
  return {"shared memory", split ? problem : note, std::move(found),
          "set fewer arena.image_slots, or give the machine or container more "
          "memory"};
}

finding open_files_of(const system_facts& x) {
  if (!x.open_files)
    return {"open files", ok, "unlimited", ""};
  auto found = fmt::format("at most {}", *x.open_files);
  if (*x.open_files >= enough_open_files)
    return {"open files", ok, std::move(found), ""};
  return {"open files", note, std::move(found),
          fmt::format("ulimit -n {}", enough_open_files)};
}

finding file_size_of(const system_facts& x) {
  if (!x.file_bytes)
    return {"file size", ok, "unlimited", ""};
  return {"file size", note,
          fmt::format("at most {}", show_bytes(*x.file_bytes)),
          "larger images cannot be written: ulimit -f unlimited"};
}

finding gpus_of(const system_facts& x) {
  if (x.gpus.empty())
    return {"GPU", note, "none found", "images are made on the CPU"};
  auto found = fmt::format("{}", fmt::join(x.gpus, ", "));
  if (!built_with_cuda())
    return {"GPU", note, std::move(found) + "; the kernels are not built",
            "install nvidia-cuda-toolkit and build again"};
  return {"GPU", ok, std::move(found), ""};
}

finding data_of(const system_facts& x) {
  if (x.data.empty())
    return {"data folder", note, "neither XDG_DATA_HOME nor HOME is set",
            "name one with --data DIR"};
  auto found = fmt::format("{}{}, {} free", x.data.string(),
                           x.data_exists ? "" : " (created when needed)",
                           show_bytes(x.data_free_bytes));
  if (!x.data_writable)
    return {"data folder", note, std::move(found) + ", not writable",
            "change its owner, or name another one with --data DIR"};
  return {"data folder", ok, std::move(found), ""};
}

finding torch_of() {
  if (built_with_torch())
    return {"LibTorch", ok, "built in", ""};
  return {"LibTorch", note, "not built in: no models, only test images",
          "configure with ATELIER_WITH_TORCH=ON"};
}

void judge_configuration(const config::outcome& x, std::vector<finding>& into) {
  for (const auto& fault : x.faults)
    into.push_back({"configuration", problem, config::to_string(fault),
                    "'atelier config --example' explains every option"});
  if (!x)
    return;
  into.push_back({"configuration", ok,
                  fmt::format("valid; policy {}", x.values.policy.name), ""});
  const auto settings = with_shipped_models(x.values);
  if (!settings) {
    into.push_back({"devices", problem, settings.why().text,
                    "name available variants in devices[].variants"});
    return;
  }
  std::string devices;
  for (const auto& device : settings->devices) {
    devices += devices.empty() ? "" : ", ";
    devices += fmt::format("{} ({}: {})", device.name, device.executor,
                           fmt::join(device.variants, ", "));
  }
  into.push_back({"devices", ok, std::move(devices), ""});
}

} // namespace

std::string_view to_string(finding::grade x) {
  switch (x) {
    case ok:
      return "ok";
    case note:
      return "note";
    case problem:
      return "problem";
  }
  return "unknown";
}

std::vector<finding> diagnose(const system_facts& machine,
                              const config::outcome& configuration) {
  std::vector<finding> result = {
    cores_of(machine),
    instructions_of(machine, configuration.values),
    memory_of(machine),
    shared_memory_of(machine, configuration.values),
    open_files_of(machine),
    file_size_of(machine),
    gpus_of(machine),
    data_of(machine),
    torch_of(),
  };
  judge_configuration(configuration, result);
  std::string versions;
  for (const auto& x : libraries())
    versions +=
      fmt::format("{}{} {}", versions.empty() ? "" : ", ", x.name, x.version);
  result.push_back({"libraries", ok, std::move(versions), ""});
  result.push_back(
    {"build", ok, fmt::format("{}, {}", build_type(), compiler()), ""});
  return result;
}

} // namespace atelier::runtime::cli
