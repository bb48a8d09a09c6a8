#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks docs/metrics.md against the tables of figures.

Each metric of a figure has a line in the page, with its kind, its labels and its help
text, which further sentences may follow. Arguments: the root of the tree, and --write to
add the lines that are missing.
"""

import pathlib
import re
import sys

TABLES = ("runtime/figures.cpp", "actors/counters.hpp", "index/kept_work.hpp")
SECTIONS = {"requests": "Image requests", "devices": "Devices",
            "plan": "Plan and shared memory", "arena": "Plan and shared memory",
            "earlier_work": "Earlier work", "predictor": "Earlier work"}
# Rows of the cache name no group: `add` gives it to them.
OF_CACHE = "Earlier work"
ROW = re.compile(r'\{([^{}]*"atelier_[^{}]*)\}')
# Neighbours are one text.
TEXT = re.compile(r'"[^"]*"(?:\s*"[^"]*")*')


def metrics_of(text):
    """Returns the metrics of a table: {name: [section, kind, labels, help]}."""
    out = {}
    for row in ROW.finditer(text):
        texts = ["".join(re.findall('"([^"]*)"', x)) for x in TEXT.findall(row[1])]
        at = next(i for i, x in enumerate(texts) if x.startswith("atelier_"))
        metric, others = texts[at], texts[at + 1:]
        label = next((x for x in others if re.fullmatch("[a-z0-9_]+=[a-z0-9_]+", x)), "")
        told = next((x for x in others if x and x != label), "")
        group = texts[at - 1] if at > 1 else ""
        if group not in SECTIONS and group != "":
            sys.exit(f"{metric}: '{group}' is no group of figures: "
                     + ", ".join(SECTIONS))
        section = SECTIONS.get(group, OF_CACHE)
        kind = "counter" if metric.endswith("_total") else "gauge"
        one = out.setdefault(metric, [section, kind, "", told])
        if label:
            name, value = label.split("=")
            one[2] += f", {value}" if one[2] else f"{name}: {value}"
    return out


def line_of(metric, kind, labels, told):
    """Returns the beginning of a metric's line."""
    meaning = told[:1].lower() + told[1:].rstrip(".")
    return f"| `{metric}` | {kind} | {labels + ' ' if labels else ''}| {meaning}"


def with_line(page, section, line):
    """Returns the page with a line at the end of a section's table."""
    begin = page.index(f"## {section}\n")
    end = page.find("\n## ", begin)
    last = page.rindex("|\n", begin, len(page) if end < 0 else end) + 2
    return page[:last] + line + " |\n" + page[last:]


def main():
    root = pathlib.Path(sys.argv[1])
    path = root / "docs" / "metrics.md"
    page = path.read_text(encoding="utf-8")
    all_metrics = {}
    for table in TABLES:
        text = (root / table).read_text(encoding="utf-8")
        found = metrics_of(text)
        if not found:
            sys.exit(f"{table} has no row of a metric")
        if unread := set(re.findall(r'"(atelier_\w+)', text)) - set(found):
            sys.exit(f"{table}: unreadable rows: {', '.join(sorted(unread))}")
        for name, row in found.items():
            if all_metrics.setdefault(name, row) is not row:
                sys.exit(f"{name} is in two tables")
    faults = []
    for name, (section, *rest) in all_metrics.items():
        line = line_of(name, *rest)
        if f"\n| `{name}` |" not in page and "--write" in sys.argv[2:]:
            page = with_line(page, section, line)
        if f"\n{line}" not in page:
            faults.append(f"a line of docs/metrics.md must begin with:\n  {line}")
    if "--write" in sys.argv[2:]:
        path.write_text(page, encoding="utf-8")
    if faults:
        sys.exit("\n".join(faults))
    print(f"{len(all_metrics)} metrics agree with docs/metrics.md")


if __name__ == "__main__":
    main()
