// SPDX-License-Identifier: Apache-2.0
#include <atelier/runtime/cli/completion.hpp>

#include <boost/test/unit_test.hpp>

using namespace atelier::runtime::cli;

namespace {

program_outline sample() {
  return {"prog",
          {{{"-h", "--help"}, "It's [help]: this", false, {}}},
          {{"make",
            "Make it",
            {{{"-n", "--count"}, "How many", true, {}},
             {{"--kind"}, "Which", true, {"red", "blue"}}},
            {}},
           {"shell", "Say which", {}, {"bash", "zsh"}}}};
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

BOOST_AUTO_TEST_SUITE(completion_test)

BOOST_AUTO_TEST_CASE(bash_offers_commands_options_and_values) {
  const auto sut = *completion_script(sample(), "bash");
  BOOST_TEST(has(sut, "'') words='make shell -h --help'"), sut);
  BOOST_TEST(has(sut, "make) words='-n --count --kind -h --help'"), sut);
  BOOST_TEST(has(sut, "shell) words='bash zsh  -h --help'"), sut);
  BOOST_TEST(has(sut, "-n|--count) COMPREPLY=($(compgen -f"), sut);
  BOOST_TEST(has(sut, "--kind) COMPREPLY=($(compgen -W 'red blue'"), sut);
  BOOST_TEST(has(sut, "complete -o filenames -F _prog prog"), sut);
}

BOOST_AUTO_TEST_CASE(zsh_descriptions_are_quoted) {
  const auto sut = *completion_script(sample(), "zsh");
  BOOST_TEST(has(sut, R"('*--help[It'\''s \[help\]\: this]')"), sut);
  BOOST_TEST(has(sut, "'*--kind[Which]:value:(red blue)'"), sut);
  BOOST_TEST(has(sut, "'make:Make it'"), sut);
}

BOOST_AUTO_TEST_CASE(fish_conditions_name_the_command) {
  const auto sut = *completion_script(sample(), "fish");
  BOOST_TEST(has(sut, "complete -c prog -s h -l help -d 'It\\'s [help]: this'"),
             sut);
  BOOST_TEST(has(sut, "-n '__fish_seen_subcommand_from make' -l kind -x -a "
                      "'red blue' -d 'Which'"),
             sut);
}

BOOST_AUTO_TEST_CASE(files_are_offered_behind_a_first_word) {
  auto program = sample();
  program.commands[1].files_follow = true;
  BOOST_TEST(has(*completion_script(program, "zsh"),
                 "'1:argument:(bash zsh)' '*:argument:_files' ;;"));
  BOOST_TEST(has(*completion_script(program, "fish"),
                 "-n '__fish_seen_subcommand_from shell' -a 'bash zsh'"));
  BOOST_TEST(has(*completion_script(sample(), "fish"),
                 "-n '__fish_seen_subcommand_from shell' -f -a 'bash zsh'"));
}

BOOST_AUTO_TEST_CASE(another_shell_is_refused) {
  const auto sut = completion_script(sample(), "csh");
  BOOST_TEST_REQUIRE(!sut);
  BOOST_TEST(sut.why().text == "SHELL: 'csh' is not bash, zsh or fish");
}

BOOST_AUTO_TEST_SUITE_END()
