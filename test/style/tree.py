# SPDX-License-Identifier: Apache-2.0
"""Lists the files of the repository, with or without git."""
import os
from pathlib import Path


def files_of(root: Path, *endings: str) -> list[str]:
    """Returns the paths below `root` that have one of the endings, except those in
    build trees and hidden folders."""
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [x for x in folders if x != "build" and not x.startswith(".")]
        found += [Path(folder, x).relative_to(root).as_posix() for x in files
                  if x.endswith(endings)]
    return sorted(found)
