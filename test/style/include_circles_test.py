#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what include_circles.py finds in small trees."""
import tempfile
import unittest
from pathlib import Path

from include_circles import find_circles


class IncludeCircles(unittest.TestCase):
    def found(self, files: dict[str, list[str]]) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            for name, includes in files.items():
                file = Path(folder, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text("".join(f"#include <atelier/{x}>\n" for x in includes))
            return find_circles(Path(folder))

    def test_a_tree_of_layers_has_none(self):
        self.assertEqual(self.found({
            "core/a.hpp": [],
            "core/b.hpp": ["core/a.hpp"],
            "gpu/c.hpp": ["core/a.hpp", "core/b.hpp"],
            "gpu/c.cpp": ["gpu/c.hpp"]}), [])

    def test_headers_that_lead_to_each_other_are_told(self):
        self.assertEqual(self.found({
            "core/a.hpp": ["core/b.hpp"],
            "core/b.hpp": ["core/detail/c.hpp"],
            "core/detail/c.hpp": ["core/a.hpp"],
            "core/d.hpp": ["core/a.hpp"]}),
            ["headers: core/a.hpp, core/b.hpp, core/detail/c.hpp"])

    def test_a_header_that_includes_itself_is_told(self):
        self.assertEqual(self.found({"core/a.hpp": ["core/a.hpp"]}),
                         ["headers: core/a.hpp"])

    def test_folders_that_lead_to_each_other_are_told(self):
        self.assertEqual(self.found({
            "core/a.hpp": [],
            "core/a.cpp": ["core/a.hpp", "gpu/b.hpp"],
            "gpu/b.hpp": ["core/a.hpp"]}), ["folders: core, gpu"])

    def test_two_circles_are_two_lines(self):
        self.assertEqual(self.found({
            "core/a.hpp": ["core/b.hpp"],
            "core/b.hpp": ["core/a.hpp"],
            "ipc/a.hpp": ["ipc/b.hpp"],
            "ipc/b.hpp": ["ipc/a.hpp"]}),
            ["headers: core/a.hpp, core/b.hpp", "headers: ipc/a.hpp, ipc/b.hpp"])

    def test_the_header_of_hosts_belongs_to_the_runtime(self):
        self.assertEqual(self.found({
            "runtime/atelier.hpp": ["runtime/x.hpp"],
            "runtime/x.hpp": ["atelier.hpp"]}),
            ["headers: runtime/atelier.hpp, runtime/x.hpp"])

    def test_tests_stand_above_everything(self):
        self.assertEqual(self.found({
            "core/a.hpp": [],
            "test/core/a.hpp": ["core/a.hpp"],
            "test/core/b.cpp": ["test/core/a.hpp"]}), [])


if __name__ == "__main__":
    unittest.main()
