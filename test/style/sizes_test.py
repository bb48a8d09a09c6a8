#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what sizes.py finds in small files."""
import unittest

import sizes


def function(lines: int, indent: str = "") -> list[str]:
    """Returns a function of so many lines, in the tree's format."""
    body = [f"{indent}  step();"] * (lines - 3)
    return [f"{indent}result<void> part::act(int first,",
            f"{indent}                       int second) {{", *body, f"{indent}}}"]


def declared(functions: int) -> list[str]:
    """Returns a class with so many functions and some other members."""
    members = [f"  bool is_{i}(int x) const;" for i in range(functions)]
    return ["class part {", "public:", "  using f = std::function<void(int)>;",
            *members, "private:", "  std::function<void(int)> on_end_;",
            "  // A comment (in parentheses).", "  friend bool act(part&);", "};"]


class Sizes(unittest.TestCase):
    def test_a_function_of_the_longest_length_passes(self):
        self.assertEqual(list(sizes.long_functions(function(sizes.LONGEST))), [])

    def test_a_longer_function_is_found(self):
        lines = ["namespace x {", "", *function(sizes.LONGEST + 1), "",
                 *function(5), "} // namespace x"]
        self.assertEqual([n for n, what in sizes.long_functions(lines)],
                         [sizes.LONGEST + 1])

    def test_a_condition_of_the_preprocessor_hides_nothing(self):
        lines = function(sizes.LONGEST)
        lines[40:40] = ["#ifdef X", "// a comment at the margin", "#endif"]
        self.assertEqual(len(list(sizes.long_functions(lines))), 1)

    def test_a_type_that_begins_like_a_keyword_hides_nothing(self):
        lines = function(sizes.LONGEST + 1)
        lines[0] = lines[0].replace("result<void>", "returned_rows")
        self.assertEqual(len(list(sizes.long_functions(lines))), 1)

    def test_a_long_function_within_a_class_is_found(self):
        lines = ["class part {", *function(sizes.LONGEST + 1, "  "), "};"]
        self.assertEqual(len(list(sizes.long_functions(lines))), 1)

    def test_a_class_with_most_functions_passes(self):
        self.assertEqual(list(sizes.large_classes(declared(sizes.MOST))), [])

    def test_a_class_with_more_functions_is_found(self):
        lines = declared(2) + declared(sizes.MOST + 1)
        self.assertEqual(list(sizes.large_classes(lines)),
                         [(sizes.MOST + 1, "part")])


if __name__ == "__main__":
    unittest.main()
