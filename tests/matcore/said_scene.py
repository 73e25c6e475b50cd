"""A session's folder as the loop keeps it, for tests of what agents say, with or without a living supervisor."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from matcore.places import SessionPlaces, StatePlaces

ROOT = Path(__file__).parents[2]
PROGRAMS = {
    "send-relay": "from matcore.said import send_relay_main as main",
    "notify-user": "from matcore.said import notify_user_main as main",
    "mat": "from matcore.fast import main",
}


class Scene:
    """Session `s1` in `<base>/work`, state in `<base>/state/mat`."""

    def __init__(self, base: Path, roles: tuple[str, ...] = ("dev", "review")) -> None:
        self.work = base / "work"
        self.state = StatePlaces(base / "state" / "mat")
        self.places = SessionPlaces.of(self.work, "s1")
        self.places.root.mkdir(parents=True)
        self.state.root.mkdir(parents=True)
        self.about: dict[str, object] = {
            "v": 1,
            "session": "s1",
            "workdir": str(self.work),
            "state_dir": str(self.state.root),
            "roles": [{"name": role, "dir": str(self.work)} for role in roles],
            "require": [],
            "max_blocks": 3,
            "cycle": {"id": "c1", "goal": "it works"},
            "frontier": {},
            "ended": False,
        }
        self.tell()
        self.places.sent_index.write_text('{"v":1,"session":"s1"}\n')

    def tell(self, **changed: object) -> None:
        """Rewrite `session.json` with changed keys."""
        self.about.update(changed)
        self.places.about.write_text(json.dumps(self.about))

    def file(self, name: str, content: str | bytes = "# Done\n") -> Path:
        path = self.work / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def environ(self, role: str = "dev") -> dict[str, str]:
        """What the driver sets."""
        return {"MAT_SESSION": "s1", "MAT_ROLE": role, "MAT_DIR": str(self.places.root)}

    def argv(self, program: str, *words: str, before: str = "") -> list[str]:
        """The command as a process; `before` is Python that runs ahead of it."""
        code = f"import sys; sys.argv[0] = {program!r}\n{before}\n{PROGRAMS[program]}\nsys.exit(main())"
        return [sys.executable, "-c", code, *words]

    def run(
        self,
        program: str,
        *words: str,
        role: str = "dev",
        stdin: bytes = b"",
        before: str = "",
        environ: Mapping[str, str] | None = None,
    ) -> tuple[int, str, str]:
        """Run a command as an agent does. Returns its exit code, stdout and stderr."""
        base = {key: value for key, value in os.environ.items() if not key.startswith("MAT_")}
        done = subprocess.run(
            self.argv(program, *words, before=before),
            cwd=self.work,
            env={**base, "PYTHONPATH": str(ROOT), **(self.environ(role) if environ is None else environ)},
            input=stdin,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def spooled(self, who: str = "dev", part: str = "new") -> list[dict[str, object]]:
        """The records in a role's spool (`human`: the user's), in the order of their names."""
        spool = self.state.spool if who == "human" else self.places.spool(who)
        return [json.loads(file.read_text()) for file in sorted((spool / part).glob("*.json"))]

    def said(self, name: str, who: str = "dev") -> list[dict[str, object]]:
        """The records of one fact, request or record."""
        records = self.spooled(who)
        return [
            record for record in records if name in (record.get("fact"), record.get("request"), record.get("record"))
        ]

    def index(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in self.places.sent_index.read_text().splitlines()[1:]]

    @contextmanager
    def supervisor(self) -> Iterator[None]:
        """While inside, a supervisor holds its lock."""
        handle = os.open(self.state.lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)
