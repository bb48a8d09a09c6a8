// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/load.hpp>
#include <atelier/core/tenant.hpp>
#include <atelier/index/store/store_folder.hpp>
#include <atelier/runtime/cli/cache.hpp>
#include <atelier/runtime/cli/choices.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/refusal.hpp>
#include <atelier/runtime/cli/text_option.hpp>

#include <CLI/CLI.hpp>
#include <fmt/chrono.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;
using nlohmann::ordered_json;

core::result<void> check_words(const std::vector<std::string>& words) {
  const auto verbs = choices_of("cache");
  if (words.size() != 1)
    return fail(ec::invalid_argument, "cache: {} words given, 1 is allowed: {}",
                words.size(), list_choices(verbs));
  return check_choice("cache", words.front());
}

struct cache_place {
  std::filesystem::path folder;
  /// The configuration's options; none if --folder names the folder.
  std::optional<std::string> eviction;
  std::optional<std::string> compares;
};

/// Returns the folder of --folder, otherwise that of the configuration.
core::result<cache_place> place_of(const cache_arguments& arguments,
                                   const common_arguments& common) {
  if (arguments.folder)
    return cache_place{*arguments.folder, std::nullopt, std::nullopt};
  const auto set = read_common(common);
  if (!set)
    return set.why();
  const auto loaded = config::load(common.config.value_or(""), *set);
  if (!loaded)
    return config::to_error(loaded.faults);
  if (loaded.values.cache.folder.empty())
    return fail(ec::invalid_argument,
                "--folder is missing, and the configuration has no "
                "cache.folder");
  const auto& x = loaded.values.cache;
  return cache_place{x.folder, x.eviction, x.compares};
}

/// Returns a human-readable date; empty for 0.
std::string date_of(int64_t seconds) {
  return seconds == 0 ? std::string{}
                      : fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                                    fmt::gmtime(static_cast<time_t>(seconds)));
}

void print(const console& terminal, bool as_json, const ordered_json& object,
           const std::string& text) {
  terminal.out << (as_json ? object.dump() : text) << '\n';
}

exit_status verify(const std::filesystem::path& folder, bool as_json,
                   const console& terminal) {
  const auto found = index::verify_store(folder);
  if (!found)
    return refuse(terminal, found.why());
  auto damaged = ordered_json::array();
  auto text = fmt::format("{} entries, {} bytes sound", found->checked,
                          found->checked_bytes);
  if (!found->rows.empty())
    text += "\ncache.sqlite: " + found->rows;
  for (const auto& x : found->entries) {
    damaged.push_back({{"entry", x.entry}, {"why", x.why}});
    text += fmt::format("\nentry {}: {}", x.entry, x.why);
  }
  if (found->files_without_entry > 0)
    text += fmt::format("\n{} files without an entry: the next start removes "
                        "them",
                        found->files_without_entry);
  print(terminal, as_json,
        {{"sound", found->is_sound()},
         {"entries", found->checked},
         {"sound_bytes", found->checked_bytes},
         {"rows", found->rows},
         {"damaged", damaged},
         {"files_without_entry", found->files_without_entry}},
        text);
  return found->is_sound() ? exit_status::done : exit_status::failed;
}

exit_status stats(const cache_place& place, bool as_json,
                  const console& terminal) {
  const auto x = index::facts_of_store(place.folder);
  if (!x)
    return refuse(terminal, x.why());
  auto text =
    fmt::format("{} entries of {} API keys\n{} with an image\n{} bytes, {} of "
                "them payloads",
                x->entries, x->tenants, x->images, x->bytes, x->payload_bytes);
  if (x->entries > 0)
    text +=
      fmt::format("\nmade {} to {}", date_of(x->oldest), date_of(x->newest));
  ordered_json object{{"entries", x->entries},
                      {"tenants", x->tenants},
                      {"with_image", x->images},
                      {"bytes", x->bytes},
                      {"payload_bytes", x->payload_bytes},
                      {"oldest", date_of(x->oldest)},
                      {"newest", date_of(x->newest)}};
  if (place.eviction) {
    object["eviction"] = *place.eviction;
    text += fmt::format("\ncache.eviction: {}", *place.eviction);
  }
  if (place.compares) {
    object["compares"] = *place.compares;
    text += fmt::format("\ncache.compares: {}", *place.compares);
  }
  print(terminal, as_json, object, text);
  return exit_status::done;
}

/// Reads an age: a whole number with a unit, such as 30d.
core::result<std::chrono::seconds> read_age(const std::string& text) {
  constexpr std::pair<char, int64_t> units[] = {
    {'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86'400}};
  // Ten thousand days.
  constexpr uint64_t most_seconds = 10'000 * 86'400ull;
  for (const auto& [letter, seconds] : units)
    if (text.ends_with(letter)) {
      const auto number =
        parse_whole("--older-than", text.substr(0, text.size() - 1), 1,
                    most_seconds / static_cast<uint64_t>(seconds));
      if (!number)
        return number.why();
      return std::chrono::seconds{static_cast<int64_t>(*number) * seconds};
    }
  return fail(ec::invalid_argument,
              "--older-than: {} is not a whole number with a unit: s, m, h or "
              "d, such as 30d",
              show_value(text));
}

exit_status clear(const std::filesystem::path& folder,
                  const cache_arguments& arguments, bool as_json,
                  const console& terminal) {
  index::entry_filter which;
  if (arguments.key)
    which.tenant = core::tenant_of(*arguments.key);
  if (arguments.older_than) {
    const auto age = read_age(*arguments.older_than);
    if (!age)
      return refuse(terminal, age.why());
    which.made_before =
      std::chrono::duration_cast<std::chrono::seconds>(
        std::chrono::system_clock::now().time_since_epoch() - *age)
        .count();
  }
  const auto removed = which.tenant || which.made_before
                       ? index::clear_store(folder, which)
                       : index::clear_store(folder);
  if (!removed)
    return refuse(terminal, removed.why());
  print(terminal, as_json, {{"removed", *removed}},
        fmt::format("{} entries removed", *removed));
  return exit_status::done;
}

/// Refuses options of other actions.
core::result<void> check_options(const cache_arguments& arguments) {
  const auto& verb = arguments.words.front();
  if (arguments.key && verb != "clear" && verb != "warm")
    return fail(ec::invalid_argument,
                "--key: '{}' is for 'clear' and 'warm', not for '{}'",
                *arguments.key, verb);
  if (arguments.older_than && verb != "clear")
    return fail(ec::invalid_argument,
                "--older-than: {} is for 'clear', not for '{}'",
                show_value(*arguments.older_than), verb);
  if (const auto name = given_option(arguments.warm);
      !name.empty() && verb != "warm")
    return fail(ec::invalid_argument, "{} is for 'warm', not for '{}'", name,
                verb);
  return {};
}

} // namespace

CLI::App* add_cache(CLI::App& app, cache_arguments& into) {
  auto* sub = app.add_subcommand(
    "cache", "Verify, describe, clear or fill a cache's folder");
  sub->option_defaults()->group("Cache");
  add_text_option(*sub, "--folder", into.folder,
                  "The cache's folder (default: cache.folder of the "
                  "configuration)")
    ->type_name("DIR");
  add_text_option(
    *sub, "--key", into.key,
    "With clear: remove only the entries of the API key with this name; '': "
    "those of clients without a key. With warm: fill the cache of that key. "
    "With warm --server: the key itself (default: $ATELIER_KEY)")
    ->type_name("NAME|KEY");
  add_text_option(*sub, "--older-than", into.older_than,
                  "With clear: remove only entries that were made longer ago, "
                  "such as 12h or 30d")
    ->type_name("AGE");
  add_cache_warm(*sub, into.warm);
  return sub;
}

exit_status cache(const cache_arguments& arguments,
                  const common_arguments& common, environment& world) {
  const auto& terminal = world.terminal;
  if (auto ok = check_words(arguments.words); !ok)
    return refuse(terminal, ok.why());
  if (auto ok = check_options(arguments); !ok)
    return refuse(terminal, ok.why());
  const auto& verb = arguments.words.front();
  if (arguments.folder && arguments.folder->empty())
    return refuse(terminal,
                  fail(ec::invalid_argument, "--folder: '' is not a folder"));
  if (verb == "warm")
    return cache_warm(arguments.warm, arguments.folder, arguments.key, common,
                      world);
  const auto place = place_of(arguments, common);
  if (!place)
    return refuse(terminal, place.why());
  if (verb == "verify")
    return verify(place->folder, common.json, terminal);
  if (verb == "stats")
    return stats(*place, common.json, terminal);
  return clear(place->folder, arguments, common.json, terminal);
}

} // namespace atelier::runtime::cli
