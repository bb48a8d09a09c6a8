// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/bench.hpp>
#include <atelier/runtime/cli/cache.hpp>
#include <atelier/runtime/cli/completion.hpp>
#include <atelier/runtime/cli/doctor.hpp>
#include <atelier/runtime/cli/evaluate.hpp>
#include <atelier/runtime/cli/generate.hpp>
#include <atelier/runtime/cli/help_text.hpp>
#include <atelier/runtime/cli/jobs.hpp>
#include <atelier/runtime/cli/models.hpp>
#include <atelier/runtime/cli/nearest.hpp>
#include <atelier/runtime/cli/parse.hpp>
#include <atelier/runtime/cli/plan.hpp>
#include <atelier/runtime/cli/profile.hpp>
#include <atelier/runtime/cli/program.hpp>
#include <atelier/runtime/cli/quick_build.hpp>
#include <atelier/runtime/cli/running_server.hpp>
#include <atelier/runtime/cli/serve.hpp>
#include <atelier/runtime/cli/show_config.hpp>
#include <atelier/runtime/cli/simulate.hpp>
#include <atelier/runtime/cli/text_option.hpp>
#include <atelier/runtime/cli/topology.hpp>
#include <atelier/runtime/cli/train.hpp>

#include <algorithm>
#include <optional>
#include <span>

namespace atelier::runtime::cli {

namespace {

constexpr auto short_help =
  R"(atelier makes images from prompts, each in the cheapest way that preserves
quality.

  atelier generate "a red circle above a blue square" -o image.png

'atelier help' lists the commands, 'atelier help COMMAND' their options.
)";

/// Names the arguments of a command after its options, and puts one blank line
/// between groups of options.
class help_formatter : public CLI::Formatter {
public:
  std::string make_usage(const CLI::App* app, std::string name) const override {
    auto usage = CLI::Formatter::make_usage(app, std::move(name));
    return usage.insert(usage.find_last_not_of('\n') + 1,
                        takes_of(app->get_name()));
  }

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    auto text = CLI::Formatter::make_help(app, std::move(name), mode);
    for (auto at = text.find("\n\n\n"); at != std::string::npos;
         at = text.find("\n\n\n", at))
      text.erase(at, 1);
    return text;
  }
};

/// The commands, their options, and what was read into them.
class command_line {
public:
  explicit command_line(environment& world) : world_(world) {
    app_.name("atelier");
    app_.formatter(std::make_shared<help_formatter>());
    app_.set_help_flag("-h,--help", "Print this and exit");
    app_.set_version_flag("--version", "atelier " + world.version,
                          "Print the version and exit");
    add_text_option(app_, "--config", common_.config,
                    "Configuration (default: the built-in one)")
      ->type_name("FILE");
    add_repeated_option(app_, "--set", common_.set,
                        "Set one option of the configuration; repeatable")
      ->type_name("KEY.PATH=VALUE");
    add_text_option(app_, "--data", common_.data,
                    "Data folder (default: $XDG_DATA_HOME/atelier)")
      ->type_name("DIR");
    add_text_option(app_, "--log", common_.log,
                    "trace, debug, info, warn, error or off (default: warn)")
      ->type_name("LEVEL");
    app_.add_flag("--json", common_.json,
                  "Results on standard output, one JSON object a line");
    app_.require_subcommand(0, 1);
    // What the parser does not know is judged here, with a suggestion.
    app_.allow_extras();
    generate_ = add_generate(app_, generate_arguments_);
    edit_ = add_edit(app_, edit_arguments_);
    serve_ = add_serve(app_, serve_arguments_);
    status_ = add_status(app_, server_arguments_);
    stop_ = add_stop(app_);
    jobs_ = add_jobs(app_, jobs_arguments_);
    models_ = add_models(app_, models_arguments_);
    cache_ = add_cache(app_, cache_arguments_);
    config_ = add_config(app_, config_arguments_);
    doctor_ = add_doctor(app_);
    profile_ = add_profile(app_, profile_arguments_);
    plan_ = add_plan(app_, plan_arguments_);
    simulate_ = add_simulate(app_, simulate_arguments_);
    bench_ = add_bench(app_, bench_arguments_);
    topology_ = add_topology(app_, topology_arguments_);
    train_ = add_train(app_, train_arguments_);
    evaluate_ = add_evaluate(app_, evaluate_arguments_);
    completion_ = app_.add_subcommand(
      "completion", "Print the completion script of bash, zsh or fish");
    help_ = app_.add_subcommand("help", "Print the help of a command");
    app_.footer(help_end(""));
    for (auto* sub : app_.get_subcommands({})) {
      sub->fallthrough();
      sub->footer(help_end(sub->get_name()));
      // Behind the command's own options.
      sub->set_help_flag();
      sub->option_defaults()->group("Help");
      sub->set_help_flag("-h,--help", "Print this and exit");
    }
  }

  exit_status run(const std::vector<std::string>& arguments) {
    if (arguments.empty()) {
      world_.terminal.out << short_help;
      return exit_status::done;
    }
    // Behind the mark stand words only, whatever they look like.
    const auto mark = std::find(arguments.begin(), arguments.end(), "--");
    if (const auto word = misplaced_word({arguments.begin(), mark}))
      return refuse_command(*word);
    try {
      // The parser takes its words from the back.
      app_.parse(std::vector<std::string>{std::make_reverse_iterator(mark),
                                          arguments.rend()});
    } catch (const CLI::CallForHelp&) {
      world_.terminal.out << app_.help();
      return exit_status::done;
    } catch (const CLI::CallForVersion&) {
      // The value of --json may not have been read yet.
      const bool json = app_.count("--json") > 0;
      world_.terminal.out << version_text(world_, json) << '\n';
      return exit_status::done;
    } catch (const CLI::ParseError& e) {
      return refuse(e.what());
    }
    auto words = app_.remaining(true);
    for (const auto& word : words)
      if (word.size() > 1 && word.front() == '-')
        return refuse_option(word);
    if (mark != arguments.end())
      words.insert(words.end(), mark + 1, arguments.end());
    return dispatch(std::move(words));
  }

private:
  std::vector<std::string> command_names() const {
    std::vector<std::string> names;
    for (const auto& x : outline_of(app_).commands)
      names.push_back(x.name);
    return names;
  }

  /// Returns the word that stands where the command should be; none where the
  /// command does, or an option that is not known.
  std::optional<std::string> misplaced_word(
    std::span<const std::string> arguments) const {
    const auto common = outline_of(app_).common;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const auto& word = arguments[i];
      if (!word.starts_with('-') || word.size() == 1) {
        const auto names = command_names();
        if (std::find(names.begin(), names.end(), word) != names.end())
          return std::nullopt;
        return word;
      }
      const auto option =
        std::find_if(common.begin(), common.end(), [&](const auto& x) {
          const auto name = word.substr(0, word.find('='));
          return std::find(x.names.begin(), x.names.end(), name)
              != x.names.end();
        });
      if (option == common.end())
        return std::nullopt;
      if (option->takes_value && word.find('=') == std::string::npos)
        ++i;
    }
    return std::nullopt;
  }

  CLI::App* chosen() const {
    const auto parsed = app_.get_subcommands();
    return parsed.empty() ? nullptr : parsed.front();
  }

  exit_status dispatch(std::vector<std::string> words) {
    const auto* command = chosen();
    if (command == generate_) {
      if (words.empty() && !generate_arguments_.prompts_file)
        return refuse("PROMPT is missing: give one or more, or --prompts FILE");
      generate_arguments_.prompts = std::move(words);
      return generate(generate_arguments_, common_, world_);
    }
    if (command == edit_)
      return edit(std::move(words));
    if (command == nullptr)
      return words.empty() ? refuse("a command is missing")
                           : refuse_command(words.front());
    if (command == models_) {
      models_arguments_.words = std::move(words);
      return models(models_arguments_, common_, world_);
    }
    if (command == jobs_) {
      jobs_arguments_.words = std::move(words);
      return jobs(jobs_arguments_, common_, world_);
    }
    if (command == cache_) {
      cache_arguments_.words = std::move(words);
      return cache(cache_arguments_, common_, world_);
    }
    if (command == train_) {
      train_arguments_.words = std::move(words);
      return world_.separate.train(train_arguments_, common_, world_);
    }
    if (command == bench_) {
      if (words != std::vector<std::string>{"serve"})
        return refuse("bench: name the benchmark: serve");
      return bench(bench_arguments_, common_, world_);
    }
    if (command == help_)
      return print_help(words);
    if (command == topology_) {
      if (words.empty())
        return refuse("FILE is missing: a configuration, such as those in "
                      "config/topologies");
      if (words.size() != 1)
        return refuse(
          fmt::format("FILE: {} words given, 1 is allowed", words.size()));
      topology_arguments_.file = std::move(words.front());
      return show_topology(topology_arguments_, common_, world_);
    }
    if (command == completion_)
      return print_completion(words);
    if (!words.empty())
      return refuse(command->get_name() + " takes no argument, but got "
                    + show_value(words.front()));
    if (command == serve_)
      return serve(serve_arguments_, common_, world_);
    if (command == status_)
      return status(server_arguments_, common_, world_);
    if (command == stop_)
      return stop(common_, world_);
    if (command == config_)
      return show_config(config_arguments_, common_, world_);
    if (command == profile_)
      return profile(profile_arguments_, common_, world_);
    if (command == plan_)
      return plan(plan_arguments_, common_, world_);
    if (command == simulate_)
      return simulate(simulate_arguments_, common_, world_);
    if (command == evaluate_)
      return world_.separate.evaluate(evaluate_arguments_, common_, world_);
    return doctor(common_, world_);
  }

  exit_status edit(std::vector<std::string> words) {
    edit_arguments_.edit = true;
    if (words.empty())
      return refuse("IMAGE is missing: name the image to edit");
    if (!edit_arguments_.mask)
      return refuse("--mask is missing: it is white where IMAGE is repainted");
    if (words.size() == 1 && !edit_arguments_.prompts_file)
      return refuse("PROMPT is missing: give one or more after IMAGE, or "
                    "--prompts FILE");
    edit_arguments_.image = std::move(words.front());
    words.erase(words.begin());
    edit_arguments_.prompts = std::move(words);
    return generate(edit_arguments_, common_, world_);
  }

  exit_status print_completion(const std::vector<std::string>& words) {
    if (words.empty())
      return refuse("SHELL is missing: bash, zsh or fish");
    if (words.size() != 1)
      return refuse(
        fmt::format("SHELL: {} words given, 1 is allowed: bash, zsh or fish",
                    words.size()));
    const auto script = completion_script(outline_of(app_), words.front());
    if (!script)
      return refuse(script.why().text);
    world_.terminal.out << *script;
    return exit_status::done;
  }

  exit_status print_help(const std::vector<std::string>& words) const {
    if (words.size() > 1)
      return refuse(
        fmt::format("COMMAND: {} words given, 1 is allowed", words.size()));
    if (words.empty()) {
      // App::help() would print that of the command `help`.
      world_.terminal.out << app_.get_formatter()->make_help(
        &app_, app_.get_name(), CLI::AppFormatMode::Normal);
      return exit_status::done;
    }
    const auto names = command_names();
    if (std::find(names.begin(), names.end(), words.front()) == names.end())
      return refuse_command(words.front());
    world_.terminal.out
      << app_.get_subcommand(words.front())->help(app_.get_name());
    return exit_status::done;
  }

  exit_status refuse(const std::string& why) const {
    const auto* command = chosen();
    const auto name = command ? "atelier " + command->get_name() : "atelier";
    world_.terminal.complain(why);
    world_.terminal.err << help_formatter{}.make_usage(
      command ? command : &app_, name)
                        << "Run '" << name << " --help' for more.\n";
    return exit_status::bad_input;
  }

  exit_status refuse_command(const std::string& word) const {
    const auto known = command_names();
    auto offered = known;
    // Whoever follows a suggestion blindly ends no server.
    std::erase(offered, "stop");
    const auto close = near(word, offered);
    return refuse(fmt::format(
      "unknown command {}{}; the first word is one of {}", show_value(word),
      close.empty() ? "" : fmt::format("; the nearest is '{}'", close),
      fmt::join(known, ", ")));
  }

  exit_status refuse_option(const std::string& word) const {
    const auto program = outline_of(app_);
    std::vector<std::string> known;
    const auto add = [&](const std::vector<option_outline>& options) {
      for (const auto& x : options)
        known.insert(known.end(), x.names.begin(), x.names.end());
    };
    add(program.common);
    for (const auto& x : program.commands)
      if (chosen() && x.name == chosen()->get_name())
        add(x.options);
    const auto name = word.substr(0, word.find('='));
    // All options of one letter are equally near.
    const auto close =
      name.starts_with("--") ? near(name, known) : std::string{};
    return refuse(fmt::format(
      "unknown option {}{} (a prompt that begins with - must follow --)",
      show_value(word),
      close.empty() ? "" : fmt::format("; the nearest is '{}'", close)));
  }

  environment& world_;
  CLI::App app_{"Serves diffusion models: images from prompts."};
  CLI::App* generate_ = nullptr;
  CLI::App* edit_ = nullptr;
  CLI::App* serve_ = nullptr;
  CLI::App* status_ = nullptr;
  CLI::App* stop_ = nullptr;
  CLI::App* jobs_ = nullptr;
  CLI::App* models_ = nullptr;
  CLI::App* cache_ = nullptr;
  CLI::App* config_ = nullptr;
  CLI::App* doctor_ = nullptr;
  CLI::App* profile_ = nullptr;
  CLI::App* plan_ = nullptr;
  CLI::App* simulate_ = nullptr;
  CLI::App* bench_ = nullptr;
  CLI::App* topology_ = nullptr;
  CLI::App* train_ = nullptr;
  CLI::App* evaluate_ = nullptr;
  CLI::App* completion_ = nullptr;
  CLI::App* help_ = nullptr;
  common_arguments common_;
  generate_arguments generate_arguments_;
  generate_arguments edit_arguments_;
  serve_arguments serve_arguments_;
  server_arguments server_arguments_;
  jobs_arguments jobs_arguments_;
  models_arguments models_arguments_;
  cache_arguments cache_arguments_;
  config_arguments config_arguments_;
  profile_arguments profile_arguments_;
  plan_arguments plan_arguments_;
  simulate_arguments simulate_arguments_;
  bench_arguments bench_arguments_;
  topology_arguments topology_arguments_;
  train_arguments train_arguments_;
  evaluate_arguments evaluate_arguments_;
};

} // namespace

exit_status run_program(const std::vector<std::string>& arguments,
                        environment& world) {
  const auto status = command_line{world}.run(arguments);
  world.terminal.out << std::flush;
  if (!world.terminal.out && status == exit_status::done) {
    if (!reader_has_left())
      world.terminal.complain("cannot write to standard output");
    return exit_status::failed;
  }
  return status;
}

} // namespace atelier::runtime::cli
