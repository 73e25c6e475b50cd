"""How a program is installed on this machine: by the package manager that is found here."""

from __future__ import annotations

import shutil

_WHERE_MANAGERS_ARE = "/usr/bin:/bin:/sbin:/usr/sbin:/usr/local/bin:/opt/homebrew/bin"
"""Looked for there whatever PATH says."""
_MANAGERS = {
    "apt-get": "sudo apt-get install -y",
    "dnf": "sudo dnf install -y",
    "pacman": "sudo pacman -S",
    "apk": "sudo apk add",
    "brew": "brew install",
}


def command(package: str) -> str:
    """The command that installs `package` here, or the advice to do so where no package manager is found."""
    found = next((words for name, words in _MANAGERS.items() if shutil.which(name, path=_WHERE_MANAGERS_ARE)), None)
    return f"{found} {package}" if found else f"install {package} with your package manager"
