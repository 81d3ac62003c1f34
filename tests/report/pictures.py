"""Pictures of a page for people to look at: wide and narrow, light and dark.

python -m tests.report.pictures demo.html FOLDER
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.report.chromium import Chromium


def main(page: str, folder: str) -> None:
    with tempfile.TemporaryDirectory() as profile, Chromium(Path(profile)) as browser:
        for width in (1440, 390):
            for dark in (False, True):
                seconds = browser.show(Path(page), width, dark=dark)
                path = Path(folder) / f"{width}-{'dark' if dark else 'light'}.png"
                browser.picture(path)
                print(f"{path}  opened in {seconds:.2f} s")
        print("\n".join(browser.problems))


if __name__ == "__main__":
    main(*sys.argv[1:])
