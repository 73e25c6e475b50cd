"""A scripted model server: real agent programs run against it without a key and without the network.

    python -m tests.agents.model PORT LOG [SCRIPT]      # or by path; port 0 prints the port that it got

What it answers is `script.py`'s, how it says it `dialects.py`'s. Its log, one JSON object a line, is the judge of what
arrived and how often: each line of a request has the SHA-256 and the head of every user message in it (`users`), so a
text that was submitted twice is there twice in one conversation, and one that merged with a draft has another SHA.
Standard library only (a YAML script needs PyYAML).
"""

from __future__ import annotations

import contextlib
import gzip
import json
import re
import socket
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

if not __package__:  # run by its path
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.agents.dialects import DIALECTS, Call, Dialect, Json, shell_call
from tests.agents.script import Asked, Reply, Script, sha

HEAD_CHARS, TAIL_CHARS, RESULT_CHARS = 160, 80, 300
ERROR_TYPES = {
    401: "authentication_error",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}


class Log:
    """Appends one JSON object a line; safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        path.touch()

    def write(self, **fields: object) -> None:
        line = json.dumps({"t": round(time.time(), 3), **fields}, ensure_ascii=False)
        with self._lock, self.path.open("a", encoding="utf-8") as out:
            out.write(line + "\n")


def requests(log: Path) -> list[Json]:
    """The requests for an answer that a log holds, oldest first. A line that is still being written is left out."""
    whole, _, _ = log.read_text(encoding="utf-8").rpartition("\n")
    entries = [json.loads(line) for line in whole.splitlines()]
    return [entry for entry in entries if "users" in entry]


def arrivals(entries: Iterable[Mapping[str, Any]], pattern: str, *, system: str = "") -> int:
    """How often a user message whose head matches `pattern` stands in the fullest conversation.

    `system` picks the conversations by what the head of their system prompt holds.
    """
    counts = [
        sum(bool(re.search(pattern, user["head"])) for user in entry["users"])
        for entry in entries
        if re.search(system, entry["system"]["head"])
    ]
    return max(counts, default=0)


def submissions(entries: Iterable[Mapping[str, Any]], pattern: str) -> int:
    """How often user messages whose head matches `pattern` were submitted, over all conversations.

    A conversation is known by its first user message, and its fullest request counts. What programs ask for themselves
    (a title, a summary), which quotes conversations, offers no tools and is left out.
    """
    fullest: dict[str, int] = {}
    for entry in entries:
        if entry["users"] and entry["tools"]:
            conversation = entry["users"][0]["sha"]
            count = sum(bool(re.search(pattern, user["head"])) for user in entry["users"])
            fullest[conversation] = max(count, fullest.get(conversation, 0))
    return sum(fullest.values())


class ModelServer(ThreadingHTTPServer):
    """The server, in this process: `with ModelServer(log) as server: … server.port …`."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, log: Path, script: Script | None = None, port: int = 0) -> None:
        self.log = Log(log)
        self.script = script or Script()
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def __enter__(self) -> ModelServer:
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ModelServer

    def log_message(self, *_: object) -> None:
        """The log of the server is enough."""

    def do_HEAD(self) -> None:
        self._json(200, {})

    def do_GET(self) -> None:
        self.server.log.write(method="GET", path=self.path)
        if self.path.split("?")[0].rstrip("/").endswith("/models"):
            model = {"id": "scripted", "type": "model", "object": "model", "display_name": "scripted", "created": 1}
            self._json(200, {"object": "list", "data": [model]})
        else:
            self._error(404, "scripted no such path")

    def do_POST(self) -> None:
        raw = self._body()
        path = self.path.split("?")[0]
        dialect = next((make() for end, make in DIALECTS.items() if path.endswith(end)), None)
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            self.server.log.write(method="POST", path=self.path, bad=raw[:RESULT_CHARS].decode("latin1"))
            self._error(400, "scripted bad json")
            return
        if path.endswith("/count_tokens"):
            self._json(200, {"input_tokens": max(1, len(raw) // 4)})
        elif dialect is None:
            self.server.log.write(method="POST", path=self.path)
            self._error(404, "scripted no such path")
        else:
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self._answer(dialect, body)

    def _body(self) -> bytes:
        if "chunked" in (self.headers.get("transfer-encoding") or "").lower():
            raw = b"".join(self._chunks())
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        return gzip.decompress(raw) if self.headers.get("content-encoding") == "gzip" else raw

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _answer(self, dialect: Dialect, body: Json) -> None:
        asked = dialect.read(body)
        chosen_by, reply = self.server.script.answer(asked)
        call = shell_call(asked.tools, reply)
        self.server.log.write(api=dialect.name, answer=chosen_by, run=reply.run, **described(asked))
        if reply.run is not None and call is None:
            reply = Reply(("NO-SHELL-TOOL among ", ", ".join(sorted(asked.tools))))
        time.sleep(reply.wait_s)
        if reply.status != 200:
            self._error(reply.status, "".join(reply.text) or f"scripted error {reply.status}")
        elif reply.cut and not reply.text:
            self._cut()
        elif asked.stream:
            self._stream(dialect, body, reply, call)
        else:
            time.sleep(reply.gap_s * len(reply.text))
            if reply.cut:
                self._cut()
            else:
                self._json(200, dialect.whole(body, reply, call))

    def _stream(self, dialect: Dialect, body: Json, reply: Reply, call: Call | None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for name, data in dialect.stream(body, reply, call):
            text = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write((f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode())
            self.wfile.flush()
        if reply.cut:
            self._cut()

    def _json(self, status: int, data: Json) -> None:
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status == 429:
            self.send_header("Retry-After", "1")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _error(self, status: int, message: str) -> None:
        kind = ERROR_TYPES.get(status, "invalid_request_error")
        self._json(status, {"type": "error", "error": {"type": kind, "code": kind, "message": message}})

    def _cut(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            linger_not = b"\1\0\0\0\0\0\0\0"
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_not)
            self.connection.shutdown(socket.SHUT_RDWR)


def described(asked: Asked) -> Json:
    """What the log says of a request: lengths, digests and heads."""
    return {
        "model": asked.model,
        "stream": asked.stream,
        "messages": asked.messages,
        "system": {"sha": sha(asked.system), "chars": len(asked.system), "head": asked.system[:HEAD_CHARS]},
        "users": [summary(text) for text in asked.users],
        "results": [text[:RESULT_CHARS] for text in asked.results],
        "tools": sorted(asked.tools),
    }


def summary(text: str) -> Json:
    lines = text.count("\n") + 1
    return {
        "sha": sha(text),
        "chars": len(text),
        "lines": lines,
        "head": text[:HEAD_CHARS],
        "tail": text[-TAIL_CHARS:],
    }


def main(argv: Sequence[str]) -> int:
    """Serve until killed."""
    if len(argv) not in (2, 3):
        sys.stderr.write("usage: model.py PORT LOG [SCRIPT]\n")
        return 2
    script = Script.load(Path(argv[2])) if len(argv) > 2 else Script()
    server = ModelServer(Path(argv[1]), script, int(argv[0]))
    sys.stdout.write(f"{server.port}\n")
    sys.stdout.flush()
    server.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
