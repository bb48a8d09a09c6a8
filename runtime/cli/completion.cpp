// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/choices.hpp>
#include <atelier/runtime/cli/completion.hpp>
#include <atelier/runtime/cli/parse.hpp>

#include <CLI/CLI.hpp>

namespace atelier::runtime::cli {

namespace {

std::vector<std::string> words_of(std::string_view name) {
  const auto words = choices_of(name);
  return {words.begin(), words.end()};
}

std::vector<option_outline> options_of(const CLI::App& app) {
  std::vector<option_outline> result;
  for (const auto* option : app.get_options()) {
    option_outline x;
    for (const auto& name : option->get_snames())
      x.names.push_back("-" + name);
    for (const auto& name : option->get_lnames()) {
      x.names.push_back("--" + name);
      x.choices = words_of(x.names.back());
    }
    x.description = option->get_description();
    x.takes_value = option->get_items_expected_max() > 0;
    result.push_back(std::move(x));
  }
  return result;
}

std::string join(const std::vector<std::string>& words,
                 std::string_view between) {
  return fmt::format("{}", fmt::join(words, between));
}

std::vector<std::string> names_of(const std::vector<option_outline>& options) {
  std::vector<std::string> names;
  for (const auto& x : options)
    names.insert(names.end(), x.names.begin(), x.names.end());
  return names;
}

std::vector<std::string> names_of(const program_outline& program) {
  std::vector<std::string> names;
  for (const auto& x : program.commands)
    names.push_back(x.name);
  return names;
}

/// Returns `text` with each of `special` behind a backslash.
std::string escaped(std::string_view text, std::string_view special) {
  std::string result;
  for (char c : text) {
    if (special.find(c) != std::string_view::npos)
      result += '\\';
    result += c;
  }
  return result;
}

/// Returns `text` in single quotes, as bash and zsh read it.
std::string single_quoted(std::string_view text) {
  std::string result = "'";
  for (char c : text)
    if (c == '\'')
      result += "'\\''";
    else
      result += c;
  return result + "'";
}

// -- bash ---------------------------------------------------------------------

std::string bash_values(const std::vector<option_outline>& options) {
  std::string result;
  for (const auto& x : options)
    if (x.takes_value)
      result += fmt::format(
        "    {}) COMPREPLY=($(compgen {} -- \"$cur\")); return ;;\n",
        join(x.names, "|"),
        x.choices.empty() ? "-f" : "-W '" + join(x.choices, " ") + "'");
  return result;
}

std::string bash_script(const program_outline& program) {
  const auto commands = names_of(program);
  const auto common = join(names_of(program.common), " ");
  std::string cases;
  std::string values = bash_values(program.common);
  for (const auto& x : program.commands) {
    values += bash_values(x.options);
    auto words = join(x.choices, " ");
    if (!words.empty())
      words += ' ';
    cases += fmt::format("    {}) words='{}{} {}' ;;\n", x.name, words,
                         join(names_of(x.options), " "), common);
  }
  return fmt::format(R"(# bash completion of {0}
_{0}() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}
  local command='' words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${{COMP_WORDS[i]}} in
      {1}) command=${{COMP_WORDS[i]}}; break ;;
    esac
  done
  case $prev in
{2}  esac
  case $command in
    '') words='{3} {4}' ;;
{5}  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  [[ $cur == -* || -z $command ]] || COMPREPLY+=($(compgen -f -- "$cur"))
}}
complete -o filenames -F _{0} {0}
)",
                     program.name, join(commands, "|"), values,
                     join(commands, " "), common, cases);
}

// -- zsh ----------------------------------------------------------------------

std::string zsh_options(const std::vector<option_outline>& options) {
  std::string result;
  for (const auto& x : options)
    for (const auto& name : x.names) {
      auto spec = fmt::format("*{}[{}]", name, escaped(x.description, "[]\\:"));
      if (x.takes_value)
        spec += x.choices.empty() ? ":value:_files"
                                  : ":value:(" + join(x.choices, " ") + ")";
      result += " \\\n        " + single_quoted(spec);
    }
  return result;
}

std::string zsh_script(const program_outline& program) {
  std::string commands;
  std::string cases;
  const auto common = zsh_options(program.common);
  for (const auto& x : program.commands) {
    commands += "    "
              + single_quoted(x.name + ":" + escaped(x.description, ":\\"))
              + "\n";
    const auto words = "argument:(" + join(x.choices, " ") + ")";
    const std::string files = "*:argument:_files";
    const auto rest = x.choices.empty() ? single_quoted(files)
                    : x.files_follow
                      ? single_quoted("1:" + words) + " " + single_quoted(files)
                      : single_quoted("*:" + words);
    cases += fmt::format("    {})\n      _arguments{}{} \\\n        {} ;;\n",
                         x.name, zsh_options(x.options), common, rest);
  }
  return fmt::format(R"(#compdef {0}
_{0}() {{
  local -a commands=(
{1}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    _arguments{3}
    return
  fi
  local command=${{words[2]}}
  shift words
  (( CURRENT-- ))
  case $command in
{2}  esac
}}
compdef _{0} {0}
)",
                     program.name, commands, cases, common);
}

// -- fish ---------------------------------------------------------------------

std::string fish_quoted(std::string_view text) {
  return "'" + escaped(text, "'\\") + "'";
}

std::string fish_options(std::string_view program, std::string_view condition,
                         const std::vector<option_outline>& options) {
  std::string result;
  for (const auto& x : options) {
    result += fmt::format("complete -c {}{}", program, condition);
    for (const auto& name : x.names)
      result += name.starts_with("--") ? " -l " + name.substr(2)
                                       : " -s " + name.substr(1);
    if (x.takes_value)
      result += x.choices.empty()
                ? " -r -F"
                : " -x -a " + fish_quoted(join(x.choices, " "));
    result += " -d " + fish_quoted(x.description) + "\n";
  }
  return result;
}

std::string fish_script(const program_outline& program) {
  auto result = fmt::format("# fish completion of {}\n", program.name);
  result += fish_options(program.name, "", program.common);
  for (const auto& x : program.commands) {
    result +=
      fmt::format("complete -c {} -n __fish_use_subcommand -f -a {} -d {}\n",
                  program.name, x.name, fish_quoted(x.description));
    const auto condition =
      fmt::format(" -n '__fish_seen_subcommand_from {}'", x.name);
    if (!x.choices.empty())
      result += fmt::format("complete -c {}{}{} -a {}\n", program.name,
                            condition, x.files_follow ? "" : " -f",
                            fish_quoted(join(x.choices, " ")));
    result += fish_options(program.name, condition, x.options);
  }
  return result;
}

} // namespace

program_outline outline_of(const CLI::App& app) {
  program_outline result;
  result.name = app.get_name();
  result.common = options_of(app);
  const auto every_command = [](const CLI::App*) { return true; };
  for (const auto* sub : app.get_subcommands(every_command)) {
    command_outline x{sub->get_name(), sub->get_description(), {}, {}, false};
    x.options = options_of(*sub);
    // Help is the program's own as well.
    std::erase_if(x.options, [&](const option_outline& o) {
      for (const auto& y : result.common)
        if (y.names == o.names)
          return true;
      return false;
    });
    if (x.name == "completion")
      x.choices = words_of("SHELL");
    else if (x.name == "help")
      for (const auto* other : app.get_subcommands(every_command))
        x.choices.push_back(other->get_name());
    else
      x.choices = words_of(x.name);
    x.files_follow = x.name == "models";
    result.commands.push_back(std::move(x));
  }
  return result;
}

core::result<std::string> completion_script(const program_outline& program,
                                            std::string_view shell) {
  if (auto ok = check_choice("SHELL", shell); !ok)
    return ok.why();
  if (shell == "bash")
    return bash_script(program);
  if (shell == "zsh")
    return zsh_script(program);
  return fish_script(program);
}

} // namespace atelier::runtime::cli
