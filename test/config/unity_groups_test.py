#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks which sources are compiled together, and that the compiler takes them.

usage: unity_groups_test.py UNITY_GROUPS.PY COMPILER
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

COMPILER = sys.argv.pop(2)
SCRIPT = sys.argv.pop(1)


class UnityGroups(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.out = self.folder / "out"
        (self.folder / "rig.hpp").write_text(
            "#pragma once\n#include <string>\nnamespace lib { int f(std::string); }\n")

    def groups(self, lines=100, **sources):
        """Returns the group of each source, by the name of its file."""
        for name, text in sources.items():
            (self.folder / f"{name}.cpp").write_text(text)
        done = subprocess.run(
            [sys.executable, SCRIPT, str(self.folder), str(lines), str(self.out),
             *(f"{name}.cpp" for name in sources)],
            check=True, capture_output=True, text=True)
        rows = (row.split(" ") for row in done.stdout.splitlines())
        return {file.removesuffix(".cpp"): group for file, group in rows}

    def assert_compiles(self, group):
        done = subprocess.run(
            [COMPILER, "-std=c++20", "-fsyntax-only", str(self.out / group)],
            capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_sources_with_the_same_private_names_share_a_file(self):
        one = ('#include "rig.hpp"\n\nusing namespace lib;\n\nnamespace {\n'
               'int answer() { return f("a"); }\n} // namespace\n'
               "int first() { return answer(); }\n")
        groups = self.groups(one=one, two=one.replace("first", "second"))
        self.assertEqual(groups, {"one": "inside_1.cpp", "two": "inside_1.cpp"})
        self.assert_compiles("inside_1.cpp")

    def test_headers_of_a_later_source_are_outside_its_namespace(self):
        self.groups(one="int one() { return 1; }\n",
                    two='#include "rig.hpp"\n#include <vector>\n'
                        "std::vector<int> two() { return {lib::f({})}; }\n")
        self.assert_compiles("inside_1.cpp")

    def test_a_group_holds_no_more_lines_than_asked_for(self):
        text = "int a = 1;\n" * 3
        self.assertEqual(self.groups(lines=6, one=text, two=text, three=text),
                         {"one": "inside_1.cpp", "two": "inside_1.cpp", "three": "0"})

    def test_a_source_with_a_named_namespace_is_left_to_cmake(self):
        inside = "namespace lib {\nnamespace {\nint here() { return 1; }\n} // namespace\n}\n"
        other = inside.replace("here", "there")
        self.assertEqual(self.groups(one=inside, two=other, three=inside),
                         {"one": "1", "two": "1", "three": "0"})

    def test_the_same_alias_in_and_out_of_an_anonymous_namespace_is_one(self):
        out = "namespace lib {\nusing std::size_t;\nsize_t one() { return 1; }\n}\n"
        hidden = ("namespace lib {\nnamespace {\nusing std::size_t;\n"
                  "size_t two() { return 2; }\n} // namespace\n}\n")
        self.assertEqual(self.groups(one=out, two=hidden), {"one": "1", "two": "1"})

    def test_the_result_of_a_function_in_a_parameter_is_no_name(self):
        one = ("namespace lib {\nnamespace {\nstd::function<void(int)> with(\n"
               "  std::function<void(int)> then);\n} // namespace\n}\n")
        groups = self.groups(one=one, two="namespace lib {\nvoid two();\n}\n")
        self.assertEqual(groups, {"one": "1", "two": "1"})

    def test_sources_that_fit_with_few_are_placed_first(self):
        text = ("namespace lib {{\nnamespace {{\nint {}() {{ return 1; }}\n}} // namespace\n"
                "int {}(int {}) {{ return {}(); }}\n}}\n")
        # Each of first, second, third, fourth goes with all but its neighbours.
        groups = self.groups(first=text.format("a", "f", "q", "a"),
                             fourth=text.format("d", "i", "c", "d"),
                             second=text.format("b", "g", "a", "b"),
                             third=text.format("c", "h", "b", "c"))
        self.assertEqual(groups["first"], groups["third"])
        self.assertEqual(groups["second"], groups["fourth"])
        self.assertNotIn("0", groups.values())

    def test_what_cannot_stand_in_a_namespace_is_left_alone(self):
        for line in ("#define LOUD 1", "#ifdef LOUD", 'extern "C" int puts(const char*);',
                     "template <> struct std::hash<int*>;", "int main() {",
                     "BOOST_TEST_DONT_PRINT_LOG_VALUE(lib::x)"):
            groups = self.groups(one="int one = 1;\n", two="int two = 2;\n",
                                 odd=line + "\n")
            self.assertEqual(groups, {"one": "inside_1.cpp", "two": "inside_1.cpp",
                                      "odd": "0"}, line)

    def test_the_file_of_a_group_is_written_anew_only_if_it_changes(self):
        sources = {"one": "int one = 1;\n", "two": "int two = 2;\n"}
        self.groups(**sources)
        before = (self.out / "inside_1.cpp").stat().st_mtime_ns
        self.groups(**sources)
        self.assertEqual((self.out / "inside_1.cpp").stat().st_mtime_ns, before)
        self.groups(one="#include <string>\nint one = 1;\n", two=sources["two"])
        self.assertIn("#include <string>", (self.out / "inside_1.cpp").read_text())


if __name__ == "__main__":
    unittest.main()
