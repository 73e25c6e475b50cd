"""The ways to a person: a program that does anything at all, and a service behind a URL."""

from __future__ import annotations

import builtins
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import psutil
import pytest

from matcore.engine.channels import AppriseChannel, CommandChannel, channels
from matcore.engine.config import NotifyCommand
from tests.waiting import wait_for


def python(code: str, timeout_s: float = 20.0) -> CommandChannel:
    return CommandChannel([sys.executable, "-c", code], timeout_s)


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


class TestCommand:
    def test_the_message_is_on_its_stdin(self, tmp_path: Path) -> None:
        """Title and body arrive whole, and nothing of them is in argv."""
        out = tmp_path / "out"
        answer = python(
            f"import sys, json; json.dump([sys.argv, sys.stdin.read()], open({str(out)!r}, 'w')); print('ok then')"
        ).send("mat: shop", "Ärger\nsecond line")
        assert (answer.ok, answer.said) == (True, "ok then")
        argv, stdin = json.loads(out.read_text())
        assert argv == ["-c"]
        assert stdin == "mat: shop\n\nÄrger\nsecond line\n"

    def test_a_program_that_fails(self) -> None:
        """Its exit code and the last of what it said are the answer."""
        answer = python("import sys; print('no network', file=sys.stderr); sys.exit(3)").send("t", "b")
        assert (answer.ok, answer.said) == (False, "exit code 3: no network")

    def test_a_program_that_is_not_there(self) -> None:
        """That it can't be started is an answer, not an exception."""
        answer = CommandChannel(["no-such-program-here"]).send("t", "b")
        assert not answer.ok
        assert answer.said == "can't be started: No such file or directory"

    @pytest.mark.parametrize("argv", [["/"], ["\0"], ["no\0pe"]])
    def test_what_is_no_program(self, argv: list[str]) -> None:
        """A folder, or a name that no program can have."""
        assert not CommandChannel(argv).send("t", "b").ok

    def test_a_program_that_reads_nothing(self) -> None:
        """One that ends without reading its stdin, however long the message is, took it if it says so."""
        assert python("pass").send("t", "b" * 1_000_000).ok

    def test_a_program_that_hangs_is_ended_with_its_children(self, tmp_path: Path) -> None:
        """After its time the whole process group is gone, and the answer says what it had said."""
        pids = tmp_path / "pids"
        code = (
            "import os, subprocess, sys, time\n"
            "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)'])\n"
            f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
            "print('connecting', flush=True)\ntime.sleep(300)\n"
        )
        start = time.monotonic()
        answer = python(code, timeout_s=2.0).send("t", "b")
        assert time.monotonic() - start < 20
        assert (answer.ok, answer.said) == (False, "no answer within 2 s; it said: connecting")
        for pid in map(int, pids.read_text().split()):
            wait_for(lambda: not alive(pid))  # noqa: B023 - called before it changes

    def test_a_program_that_floods(self) -> None:
        """Endless output on stderr neither blocks it nor fills the memory; its last words are kept."""
        code = "import sys\nfor n in range(300_000): sys.stderr.write(f'line {n} ' * 10)\nsys.exit(1)"
        answer = python(code).send("t", "b")
        assert answer.said.endswith("line 299999")
        assert len(answer.said) < 400

    def test_a_program_that_floods_and_hangs(self) -> None:
        """Both at once end in time."""
        answer = python("while True: print('x' * 1000)", timeout_s=1.0).send("t", "b")
        assert not answer.ok
        assert answer.said.startswith("no answer within 1 s")

    @pytest.mark.field_case("Load")
    def test_a_grandchild_that_holds_the_pipe(self, tmp_path: Path) -> None:
        """A program that left something behind has ended all the same."""
        pid = tmp_path / "pid"
        code = (
            "import subprocess, sys\n"
            "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)'], start_new_session=True)\n"
            f"open({str(pid)!r}, 'w').write(str(child.pid))\n"
        )
        try:
            start = time.monotonic()
            assert python(code, timeout_s=60.0).send("t", "b").ok
            assert time.monotonic() - start < 30
        finally:
            os.kill(int(pid.read_text()), 9)

    def test_what_it_says_is_made_harmless(self) -> None:
        """Escape sequences and bytes that are no text don't reach a screen."""
        answer = python("import os; os.write(1, b'\\x1b[31mred\\xff\\n\\tx')").send("t", "b")
        assert answer.ok
        assert answer.said.isprintable()
        assert "red" in answer.said

    def test_its_name_is_the_programs(self) -> None:
        """Arguments may be secrets, so they are no part of the name."""
        assert CommandChannel(["/usr/bin/curl", "-H", "token"]).name == "command curl"


class _Service(BaseHTTPRequestHandler):
    code = 200
    url: str
    got: ClassVar[list[dict[str, Any]]]

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        self.got.append(json.loads(self.rfile.read(length)))
        self.send_response(self.code)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def service() -> Iterator[type[_Service]]:
    """A service on this host that takes JSON."""

    class Service(_Service):
        got: ClassVar[list[dict[str, Any]]] = []

    with HTTPServer(("127.0.0.1", 0), Service) as server:
        Service.url = f"json://user:t0ken@127.0.0.1:{server.server_port}/"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield Service
        server.shutdown()
        thread.join()


# Apprise imports a module of the standard library that is on its way out.
@pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")
class TestApprise:
    def test_a_service_takes_it(self, service: type[_Service]) -> None:
        """Title and body arrive at the service behind the URL."""
        pytest.importorskip("apprise")
        channel = AppriseChannel(service.url)
        assert channel.send("mat: shop", "body *as it is*").ok
        assert service.got[0]["title"] == "mat: shop"
        assert service.got[0]["message"] == "body *as it is*"
        assert channel.name == "json"

    def test_a_service_refuses(self, service: type[_Service]) -> None:
        """A refusal is an answer with a reason, without the token of the URL."""
        pytest.importorskip("apprise")
        service.code = 500
        answer = AppriseChannel(service.url).send("t", "b")
        assert not answer.ok
        assert answer.said
        assert "t0ken" not in answer.said

    def test_what_is_no_address(self) -> None:
        """A URL of a service that Apprise does not know is an answer, too."""
        pytest.importorskip("apprise")
        answer = AppriseChannel("nonsense://x").send("t", "b")
        assert not answer.ok
        assert "Apprise knows" in answer.said

    def test_without_the_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where Apprise is not installed the answer says how to install it."""
        real = builtins.__import__

        def missing(name: str, *rest: Any, **options: Any) -> Any:
            if name == "apprise":
                raise ImportError(name)
            return real(name, *rest, **options)

        monkeypatch.setattr(builtins, "__import__", missing)
        answer = AppriseChannel("ntfy://topic").send("t", "b")
        assert not answer.ok
        assert "pip install 'apprise>=1.8'" in answer.said


def test_channels_of_a_configuration() -> None:
    """URLs and commands, as types or as the plain data of the journal, in their order."""
    made = channels(["ntfy://topic", {"command": ["notify-send", "mat"]}, NotifyCommand(command=("mail", "me"))])
    assert [channel.name for channel in made] == ["ntfy", "command notify-send", "command mail"]
    assert all(channel.reaches_person for channel in made)


def test_a_command_runs_where_it_is_told_to(tmp_path: Path) -> None:
    """In the session's directory, as in `mat notify --test`; where that is gone, it runs all the same."""
    (channel,) = channels([{"command": ["tee", "told.txt"]}], tmp_path)
    assert channel.send("mat", "text").ok
    assert "text" in (tmp_path / "told.txt").read_text()
    (homeless,) = channels([{"command": ["true"]}], tmp_path / "gone")
    assert homeless.send("mat", "text").ok
