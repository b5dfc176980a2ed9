"""Give one of the two blocks of the README's quick start, so that what is tested is what is printed there.

python3 .ci/quick_start.py README.md 1|2
"""

import re
import sys
from pathlib import Path


def blocks(text):
    """The fenced sh blocks under the heading "Quick start"."""
    section = re.search(r"^## Quick start\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    return re.findall(r"^```sh\n(.*?)^```$", section[1], re.M | re.S) if section else []


if __name__ == "__main__":
    found = blocks(Path(sys.argv[1]).read_text())
    if len(found) != 2:
        sys.exit(
            f"{sys.argv[1]}: {len(found)} fenced sh blocks under Quick start; there have to be two"
        )
    print(found[int(sys.argv[2]) - 1], end="")
