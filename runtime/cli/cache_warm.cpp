// SPDX-License-Identifier: Apache-2.0
#include <atelier/config/load.hpp>
#include <atelier/runtime/cli/cache_warm.hpp>
#include <atelier/runtime/cli/choices.hpp>
#include <atelier/runtime/cli/engine_options.hpp>
#include <atelier/runtime/cli/job_service.hpp>
#include <atelier/runtime/cli/model_option.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/policy_help.hpp>
#include <atelier/runtime/cli/refusal.hpp>
#include <atelier/runtime/cli/service_choice.hpp>
#include <atelier/runtime/cli/text_option.hpp>
#include <atelier/runtime/cli/warm_keys.hpp>
#include <atelier/runtime/cli/warm_list.hpp>
#include <atelier/runtime/cli/warm_run.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <ostream>
#include <set>
#include <utility>

namespace atelier::runtime::cli {

namespace {

using core::ec;
using core::fail;
using core::result;

/// Maximum number of requests in flight; more would only wait at the service.
constexpr uint64_t most_in_flight = 32;

/// The work of one call of the command.
struct warm_plan {
  /// The requests to draw.
  std::vector<warm_request> list;
  /// The names under which their work is kept; empty with a server.
  std::vector<kept_name> names;
  uint64_t prompts = 0;
  /// Prompts whose work the folder has already, and repeated ones.
  uint64_t there = 0;
  /// None with a server.
  std::optional<warm_keys> keys;
  engine_options engine;
  std::optional<server_options> server;
  draw_pace pace;
};

/// Reads what all requests share.
result<generation> read_common_fields(const warm_arguments& arguments,
                                      const core::limits& within) {
  generation out;
  // Nothing that is found there may shape what is kept.
  out.cache = "write";
  if (arguments.negative) {
    if (auto ok =
          check_text("--negative", *arguments.negative, within.prompt_bytes);
        !ok)
      return ok.why();
    out.negative = *arguments.negative;
  }
  if (arguments.size) {
    const auto px = parse_size("--size", *arguments.size, within);
    if (!px)
      return px.why();
    out.width = px->width;
    out.height = px->height;
  }
  return out;
}

/// Gives every request a seed. A client's later request has another one, which
/// the cache does not compare.
void set_seeds(warm_plan& plan, const std::function<uint64_t()>& draw_seed) {
  auto seed = draw_seed();
  for (auto& x : plan.list)
    if (!x.wanted.seed) {
      x.wanted.seed = seed++;
      x.wanted.seed_drawn = true;
    }
}

/// Leaves out the requests whose work the folder has.
result<void> leave_out_kept(warm_plan& plan) {
  auto there = plan.keys->whole_names();
  if (!there)
    return there.why();
  std::vector<warm_request> rest;
  for (auto& x : plan.list) {
    auto name = plan.keys->name_of(x.wanted);
    if (!name)
      return fail(name.why().code, "{}: {}", x.place, name.why().text);
    if (!there->insert(*name).second)
      continue;
    plan.names.push_back(std::move(*name));
    rest.push_back(std::move(x));
  }
  plan.there = plan.prompts - rest.size();
  plan.list = std::move(rest);
  return {};
}

result<void> plan_own_engine(const warm_arguments& arguments,
                             const std::optional<std::string>& folder,
                             const std::optional<std::string>& key,
                             const common_arguments& common,
                             std::istream& standard_input, warm_plan& plan) {
  if (arguments.authorities)
    return fail(ec::invalid_argument,
                "--cacert: it has no effect without --server");
  auto with = common;
  // No client waits: a slow disk is not left out, and every result is stored
  // before the next. --set may differ.
  for (const char* set : {"cache.disk_wait_ms=60000",
                          "cache.disk_write_wait_ms=60000", "cache.pending=0"})
    with.set.insert(with.set.begin(), set);
  if (folder)
    with.set.push_back("cache.folder=" + toml_string(*folder));
  auto chosen = read_engine_options({arguments.model,
                                     arguments.device,
                                     arguments.dtype,
                                     arguments.policy,
                                     arguments.processes,
                                     {},
                                     {}},
                                    with);
  if (!chosen)
    return chosen.why();
  plan.engine = std::move(chosen->engine);
  const auto& settings = chosen->settings;
  auto keys = warm_keys::of(settings);
  if (!keys)
    return keys.why();
  plan.keys = std::move(*keys);
  if (chosen->model && *chosen->model != plan.keys->model())
    return fail(ec::invalid_argument,
                "--model: {} is not the model whose work the policy keeps, {}",
                show_value(*chosen->model), plan.keys->model());
  auto common_fields = read_common_fields(arguments, settings.limits);
  if (!common_fields)
    return common_fields.why();
  common_fields->tenant = key.value_or("");
  auto list = read_warm_list(*arguments.prompts, standard_input,
                             settings.limits, *common_fields);
  if (!list)
    return list.why();
  plan.list = std::move(*list);
  plan.prompts = plan.list.size();
  if (auto ok = leave_out_kept(plan); !ok)
    return ok;
  uint64_t seats = 0;
  for (const auto& device : settings.devices)
    seats += device.seats;
  // The states of a request are captured only where slots are free for them.
  const auto states = plan.keys->most_states();
  if (states > 0)
    plan.pace.batch = settings.arena.capture_slots / states;
  plan.pace.window = std::clamp<uint64_t>(
    states > 0 ? std::min(plan.pace.batch, 2 * seats) : 2 * seats, 1,
    most_in_flight);
  plan.pace.grace = settings.processes.grace;
  return {};
}

result<void> plan_server(const warm_arguments& arguments,
                         const std::optional<std::string>& folder,
                         const std::optional<std::string>& key,
                         const common_arguments& common,
                         std::istream& standard_input, warm_plan& plan) {
  if (folder)
    return fail(ec::invalid_argument,
                "--folder: the cache of --server is the server's own");
  for (const auto* own : {&arguments.model, &arguments.device, &arguments.dtype,
                          &arguments.policy, &arguments.processes})
    if (*own)
      return fail(ec::invalid_argument,
                  "--server: --model, --device, --dtype, --policy and "
                  "--processes are the server's own");
  const auto overrides = read_common(common);
  if (!overrides)
    return overrides.why();
  const auto loaded = config::load(common.config.value_or(""), *overrides);
  if (!loaded)
    return config::to_error(loaded.faults);
  const auto common_fields =
    read_common_fields(arguments, loaded.values.limits);
  if (!common_fields)
    return common_fields.why();
  auto list = read_warm_list(*arguments.prompts, standard_input,
                             loaded.values.limits, *common_fields);
  if (!list)
    return list.why();
  plan.list = std::move(*list);
  plan.prompts = plan.list.size();
  plan.pace.window = std::min<uint64_t>(most_in_flight, plan.prompts);
  plan.pace.grace = loaded.values.processes.grace;
  plan.server.emplace();
  plan.server->url = *arguments.server;
  plan.server->key = server_key(key);
  plan.server->authorities = arguments.authorities.value_or("");
  plan.server->connections = static_cast<uint32_t>(plan.pace.window);
  return {};
}

/// Checks that a server has a cache, if its key may ask for that.
result<void> check_server(const server_options& options) {
  const server_caller caller{options};
  const auto reply = caller.ask("GET", "/v1/admin/caches");
  if (!reply)
    return reply.why();
  if (reply->status != 200)
    return {};
  const auto told = nlohmann::json::parse(reply->body, nullptr, false);
  if (!told.is_object() || told.contains("earlier_work"))
    return {};
  return fail(ec::invalid_argument,
              "--server: {} has no cache (cache.memory_mib is 0)",
              show_value(options.url));
}

/// Names the drawn prompts that the folder lacks. Returns their number.
/// Errors: those of warm_keys::whole_names.
result<uint64_t> name_lost(
  const warm_plan& plan, const std::vector<std::optional<std::string>>& routes,
  const console& terminal) {
  const auto there = plan.keys->whole_names();
  if (!there)
    return there.why();
  uint64_t lost = 0;
  for (size_t i = 0; i < plan.list.size(); ++i) {
    if (!routes[i] || there->contains(plan.names[i]))
      continue;
    ++lost;
    terminal.complain(fmt::format(
      "{}: {}: drawn by the route '{}', but not kept: cache.disk_mib, "
      "cache.entries or arena.capture_slot_kib has no room for it, the disk "
      "failed, or the policy keeps nothing of that route",
      plan.list[i].place, show_value(plan.list[i].wanted.prompt), *routes[i]));
  }
  return lost;
}

void print_result(const warm_plan& plan, uint64_t drawn, uint64_t lost,
                  bool as_json, const console& terminal) {
  if (as_json) {
    nlohmann::ordered_json out{
      {"prompts", plan.prompts}, {"there", plan.there}, {"drawn", drawn}};
    // A server keeps them later, and may keep none.
    if (!plan.server)
      out["kept"] = drawn - lost;
    terminal.out << out.dump() << '\n';
    return;
  }
  if (plan.server)
    terminal.out << fmt::format("{} of {} prompts drawn\n", drawn,
                                plan.prompts);
  else
    terminal.out << fmt::format("{} prompts: {} were there, {} drawn, {} of "
                                "them kept\n",
                                plan.prompts, plan.there, drawn, drawn - lost);
}

} // namespace

void add_cache_warm(CLI::App& to, warm_arguments& into) {
  const auto add = [&to](const std::string& names,
                         std::optional<std::string>& value,
                         const std::string& kind, const std::string& text) {
    add_text_option(to, names, value, text)->type_name(kind);
  };
  to.option_defaults()->group("Warm");
  add("--prompts", into.prompts, "FILE",
      "One prompt a line, or one JSON object with the fields of a request; -: "
      "standard input");
  add("--size", into.size, "WxH",
      "Pixels of requests that do not say it (default: the model's own)");
  add("--negative", into.negative, "TEXT",
      "Negative prompt of requests that do not say it");
  add("--model", into.model, "NAME|DIR|FILE",
      "The model that the first device hosts, as for 'serve'");
  add("--device", into.device, "D", "cpu, cuda or cuda:N");
  add("--dtype", into.dtype, "T", list_choices(choices_of("--dtype")));
  add("--policy", into.policy, "P", policy_help("How requests are answered"));
  add("--processes", into.processes, "MODE",
      list_choices(choices_of("--processes")) + ": one process, or several");
  add("--server", into.server, "URL", "Fill the cache of a running server");
  add("--cacert", into.authorities, "FILE",
      "With --server: trust these certificates (PEM), such as the server's own "
      "self-signed one, instead of this machine's");
}

std::string_view given_option(const warm_arguments& x) {
  const std::pair<std::string_view, const std::optional<std::string>&> all[] = {
    {"--prompts", x.prompts},   {"--size", x.size},
    {"--negative", x.negative}, {"--model", x.model},
    {"--device", x.device},     {"--dtype", x.dtype},
    {"--policy", x.policy},     {"--processes", x.processes},
    {"--server", x.server},     {"--cacert", x.authorities}};
  for (const auto& [name, value] : all)
    if (value)
      return name;
  return {};
}

exit_status cache_warm(const warm_arguments& arguments,
                       const std::optional<std::string>& folder,
                       const std::optional<std::string>& key,
                       const common_arguments& common, environment& world) {
  const auto& terminal = world.terminal;
  if (!arguments.prompts)
    return refuse(terminal, fail(ec::invalid_argument,
                                 "--prompts is missing: FILE, or - for "
                                 "standard input"));
  warm_plan plan;
  const auto planned =
    arguments.server
      ? plan_server(arguments, folder, key, common, terminal.in, plan)
      : plan_own_engine(arguments, folder, key, common, terminal.in, plan);
  if (!planned)
    return refuse(terminal, planned.why());
  set_seeds(plan, world.draw_seed);
  if (plan.list.empty()) {
    print_result(plan, 0, 0, common.json, terminal);
    return exit_status::done;
  }
  auto chosen = choose_service(plan.server, reach_jobs, plan.engine, world);
  if (const auto* status = std::get_if<exit_status>(&chosen))
    return *status;
  auto& draws = *std::get<std::unique_ptr<service>>(chosen);
  if (plan.server)
    if (auto ok = check_server(*plan.server); !ok)
      return refuse(terminal, ok.why());
  warm_run run{plan.list, plan.pace, draws, world.interrupted, terminal};
  auto status = run.run();
  draws.stop(status == exit_status::interrupted ? std::chrono::nanoseconds{0}
                                                : plan.pace.grace);
  // The engine leaves the folder's lock.
  std::get<std::unique_ptr<service>>(chosen).reset();
  const auto drawn = static_cast<uint64_t>(std::ranges::count_if(
    run.routes(), [](const auto& x) { return x.has_value(); }));
  uint64_t lost = 0;
  if (plan.keys) {
    const auto found = name_lost(plan, run.routes(), terminal);
    if (!found)
      return refuse(terminal, found.why());
    lost = *found;
  }
  print_result(plan, drawn, lost, common.json, terminal);
  return status == exit_status::done && lost > 0 ? exit_status::failed : status;
}

} // namespace atelier::runtime::cli
