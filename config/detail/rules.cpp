// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/detail/rules.hpp>
#include <atelier/config/detail/text.hpp>
#include <atelier/config/detail/variant_name.hpp>
#include <atelier/config/device_kind.hpp>
#include <atelier/config/schema.hpp>
#include <atelier/config/shipped_family.hpp>

#include <fmt/format.h>

#include <map>
#include <set>

namespace atelier::config::detail {

namespace {

constexpr uint64_t most_arena_bytes = 1ull << 40;

/// Collects the findings. Rules name members; keys and units come from the
/// schema.
class checker {
public:
  checker(const settings& x, std::span<const std::string_view> executors)
    : x_(x), executors_(executors) {}

  std::vector<finding> run() {
    if (x_.devices.empty() || x_.devices.size() > most_devices) {
      add({std::string{devices_section}},
          fmt::format("{} devices are not 1..{}", x_.devices.size(),
                      most_devices));
      return std::move(found_);
    }
    check_each_option();
    check_limits();
    check_cache();
    check_http();
    check_processes();
    check_arena();
    check_models();
    for (size_t i = 0; i < x_.devices.size(); ++i)
      check_device(i);
    return std::move(found_);
  }

private:
  void check_each_option() {
    for (const auto& x : options())
      for (size_t i = 0; i < count_of(x, x_); ++i)
        if (auto text =
              fault_of(widened_by(executors_, x), look_at(x, x_, i))) {
          wrong_.insert(key_of(x, i));
          found_.push_back({{key_of(x, i)}, std::move(*text)});
        }
  }

  void check_limits() {
    const auto& l = x_.limits;
    if (l.sources_bytes / 2 < l.source_bytes)
      add({key(l.sources_bytes), key(l.source_bytes)},
          fmt::format("{} is less than twice {}", told(l.sources_bytes),
                      told(l.source_bytes)));
  }

  void check_cache() {
    const auto& c = x_.cache;
    if (c.tenants > c.entries)
      add({key(c.tenants), key(c.entries)},
          fmt::format("{} leaves each tenant less than one of {}",
                      told(c.tenants), told(c.entries)));
    if (c.compares == "images" && c.encoder.empty())
      add({key(c.compares), key(c.encoder)},
          fmt::format("{} needs the folder of a CLIP model, whose image "
                      "encoder reads them, and {} compares words",
                      told(c.compares), told(c.encoder)));
    if (c.memory_bytes > 0)
      return;
    if (!c.folder.empty())
      add({key(c.folder), key(c.memory_bytes)},
          fmt::format("a folder needs a cache, and {} means no cache",
                      told(c.memory_bytes)));
    if (!c.encoder.empty())
      add({key(c.encoder), key(c.memory_bytes)},
          fmt::format("an encoder needs a cache, and {} means no cache",
                      told(c.memory_bytes)));
  }

  void check_http() {
    const auto& h = x_.http;
    if (h.bodies_bytes < h.body_bytes)
      add({key(h.bodies_bytes), key(h.body_bytes)},
          fmt::format("{} is less than {}", told(h.bodies_bytes),
                      told(h.body_bytes)));
    if (h.certificate.empty() != h.private_key.empty())
      add({key(h.certificate), key(h.private_key)},
          "one without the other: TLS needs both");
    if (h.journal == "on" && h.results_disk_bytes == 0)
      add({key(h.journal), key(h.results_disk_bytes)},
          fmt::format("{} needs files for images: {} keeps none",
                      told(h.journal), told(h.results_disk_bytes)));
  }

  void check_processes() {
    const auto& p = x_.processes;
    if (p.silence / 2 < p.heartbeat)
      add({key(p.silence), key(p.heartbeat)},
          fmt::format("{} is less than twice {}", told(p.silence),
                      told(p.heartbeat)));
    if (!p.cpu_cores.empty() && p.mode == process_mode::single)
      add({key(p.cpu_cores), key(p.mode)},
          fmt::format("{} needs a process of its own: processes.mode "
                      "\"split\"",
                      told(p.cpu_cores)));
    for (const auto* seed :
         {&x_.preprocess.test_crash_seed, &x_.postprocess.test_crash_seed})
      if (*seed != 0 && p.mode == process_mode::single)
        add({key(*seed), key(p.mode)},
            fmt::format("{} needs a process of its own: processes.mode "
                        "\"split\"",
                        told(*seed)));
    if (p.restart_first > p.restart_most)
      add({key(p.restart_first), key(p.restart_most)},
          fmt::format("{} is above {}", told(p.restart_first),
                      told(p.restart_most)));
  }

  void check_arena() {
    const auto& a = x_.arena;
    // Each device's process and the CPU process have one pair of rings.
    const uint64_t rings = 2 * (x_.devices.size() + 1);
    uint64_t room = most_arena_bytes;
    const bool fits = take(room, a.state_slots, a.state_slot_bytes)
                   && take(room, a.image_slots, a.image_slot_bytes)
                   && take(room, a.capture_slots, a.capture_slot_bytes)
                   && take(room, rings, a.ring_bytes);
    if (!fits)
      add({key(a.image_slots), key(a.image_slot_bytes), key(a.state_slots),
           key(a.state_slot_bytes), key(a.capture_slots),
           key(a.capture_slot_bytes), key(a.ring_bytes)},
          "slots and rings together need more than 1 TiB");
  }

  void check_models() {
    if (x_.models.size() > most_models) {
      add(
        {std::string{models_section}},
        fmt::format("{} models are not 0..{}", x_.models.size(), most_models));
      return;
    }
    for (size_t i = 0; i < x_.models.size(); ++i) {
      const auto& m = x_.models[i];
      if (!m.name.empty() && !parse_variant(m.name + "@1"))
        add({key(m.name)},
            fmt::format("{} is not 1..64 of the characters a-z, A-Z, 0-9, _, "
                        "- and .",
                        shorten(quote(m.name))));
      const auto [first, fresh] = models_by_name_.emplace(m.name, i);
      if (!fresh)
        add({key(m.name), key(x_.models[first->second].name)},
            fmt::format("{} names the same model as {}[{}]",
                        shorten(quote(m.name)), models_section, first->second));
    }
  }

  void check_device(size_t i) {
    const auto& d = x_.devices[i];
    if (d.max_batch > d.seats)
      add({key(d.max_batch), key(d.seats)},
          fmt::format("{} is above {}", told(d.max_batch), told(d.seats)));
    if (!d.cores.empty() && x_.processes.mode == process_mode::single)
      add({key(d.cores), key(x_.processes.mode)},
          fmt::format("{} needs a process of its own: processes.mode "
                      "\"split\"",
                      told(d.cores)));
    const auto [first, fresh] = devices_by_name_.emplace(d.name, i);
    if (!fresh)
      add({key(d.name), key(x_.devices[first->second].name)},
          fmt::format("{} names the same device as {}[{}]",
                      shorten(quote(d.name)), devices_section, first->second));
    check_profile(d);
    check_variants(d);
  }

  void check_profile(const device_settings& d) {
    if (d.profile.empty())
      return;
    const auto kind = device_kind(d);
    const auto& first = x_.devices[*device_with_profile(x_, kind)];
    if (first.profile != d.profile)
      add({key(d.profile), key(first.profile)},
          fmt::format("{} is another file than {} for devices of one kind, {}",
                      told(d.profile), told(first.profile),
                      shorten(quote(kind))));
  }

  bool can_draw(const device_settings& d, std::string_view model) const {
    // A host's executor chooses its own variant names.
    return (d.executor != "torch" && d.executor != "auto")
        || (d.executor == "auto" && model == test_card_model)
        || models_by_name_.contains(model) || find_shipped(model) != nullptr;
  }

  void check_variants(const device_settings& d) {
    std::map<std::string_view, int> seen;
    for (const auto& text : d.variants) {
      const auto name = parse_variant(text);
      if (name && !can_draw(d, name->model))
        add({key(d.variants), key(d.executor)},
            fmt::format("{} names a model that is neither in [[{}]] nor one of "
                        "Atelier's own",
                        shorten(quote(text)), models_section));
      if (name && name->steps > x_.limits.steps)
        add({key(d.variants), key(x_.limits.steps)},
            fmt::format("{} takes more steps than {}", shorten(quote(text)),
                        told(x_.limits.steps)));
      if (name && ++seen[text] == 2)
        add({key(d.variants)},
            fmt::format("{} occurs twice", shorten(quote(text))));
    }
  }

  /// Takes `count` times `bytes` from `room`; returns false if it is too small.
  static bool take(uint64_t& room, uint64_t count, uint64_t bytes) {
    if (count > 0 && bytes > room / count)
      return false;
    room -= count * bytes;
    return true;
  }

  template <class T>
  std::string key(const T& member) const {
    const auto [what, index] = option_at(x_, &member);
    return key_of(*what, index);
  }

  /// Returns "key value" of an option, for sentences.
  template <class T>
  std::string told(const T& member) const {
    const auto [what, index] = option_at(x_, &member);
    return fmt::format("{} {}", key_of(*what, index),
                       value_text(*what, look_at(*what, x_, index)));
  }

  /// Adds a broken rule between options, unless one of them is already wrong:
  /// its consequences would only distract.
  void add(std::vector<std::string> keys, std::string text) {
    for (const auto& key : keys)
      if (wrong_.contains(key))
        return;
    found_.push_back({std::move(keys), std::move(text)});
  }

  const settings& x_;
  const std::span<const std::string_view> executors_;
  std::vector<finding> found_;
  std::set<std::string> wrong_;
  std::map<std::string_view, size_t> models_by_name_;
  std::map<std::string_view, size_t> devices_by_name_;
};

} // namespace

std::vector<finding> check(const settings& x,
                           std::span<const std::string_view> executors) {
  return checker{x, executors}.run();
}

} // namespace atelier::config::detail
