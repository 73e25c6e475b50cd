"""The pings of dead-man's switches: one a minute for each URL, whatever becomes of the others."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from matcore.engine.pings import PING_S, Pings
from tests.waiting import wait_for

URL = "https://switch.example/ping/a-secret"


class Sent:
    """What was sent; a URL in `held` hangs until it is let go, one in `broken` fails."""

    def __init__(self) -> None:
        self.urls: list[str] = []
        self.held: dict[str, threading.Event] = {}
        self.broken: set[str] = set()
        self.pings = Pings(self.send)

    def send(self, url: str) -> None:
        self.urls.append(url)
        if url in self.held:
            assert self.held[url].wait(10)
        if url in self.broken:
            raise ConnectionRefusedError("refused")

    def look(self, now_s: float, *urls: str) -> None:
        """As the loop does, once all that does not hang has come back."""
        wait_for(lambda: not any(each.name == "mat-ping" for each in threading.enumerate()) or self.held)
        self.pings.look(set(urls), now_s)


def test_a_url_is_pinged_at_once_and_then_once_a_minute() -> None:
    """However often the loop looks."""
    sent = Sent()
    for now_s in (0.0, 2.0, PING_S - 1, PING_S, PING_S + 2):
        sent.look(now_s, URL)
    wait_for(lambda: len(sent.urls) == 2)


def test_one_that_hangs_is_not_asked_again_and_holds_no_other() -> None:
    """Until it has come back; then it is due."""
    sent, other = Sent(), "https://other.example"
    sent.held[URL] = threading.Event()
    sent.look(0, URL)
    wait_for(lambda: sent.urls == [URL])
    sent.look(PING_S, URL, other)
    wait_for(lambda: sent.urls == [URL, other])
    sent.held.pop(URL).set()
    sent.look(PING_S + 2, URL, other)
    wait_for(lambda: sent.urls == [URL, other, URL])


def test_one_that_no_session_names_any_more_is_left_alone() -> None:
    """And is pinged at once when a session names it again."""
    sent = Sent()
    sent.look(0, URL)
    sent.look(PING_S)
    sent.look(PING_S + 1, URL)
    wait_for(lambda: sent.urls == [URL, URL])


def test_a_failure_is_logged_once_and_without_the_secret(caplog: pytest.LogCaptureFixture) -> None:
    """Once more after it went well in between; the host is named, and nothing else of the URL."""
    sent = Sent()
    with caplog.at_level(logging.ERROR):
        for minute, fails in enumerate((True, True, False, True)):
            sent.broken = {URL} if fails else set()
            sent.look(minute * PING_S, URL)
            sent.look(minute * PING_S)  # once it has come back
    assert caplog.messages == ["the heartbeat to switch.example can't be sent: refused"] * 2


@contextmanager
def serving(status: int) -> Iterator[tuple[str, list[str]]]:
    """A web server on this machine, and the requests that it got."""
    asked: list[str] = []

    class Service(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(f"{self.command} {self.path} {self.headers['User-Agent']}")
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/ping/x", asked
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(("status", "logged"), [(200, []), (404, ["HTTP Error 404: Not Found"])])
def test_a_ping_is_a_plain_get(status: int, logged: list[str], caplog: pytest.LogCaptureFixture) -> None:
    """Any answer of success is well; nothing of a session is in it."""
    pings = Pings()
    with serving(status) as (url, asked), caplog.at_level(logging.ERROR):
        pings.look({url}, 0.0)
        wait_for(lambda: asked == ["GET /ping/x mat"])
        wait_for(lambda: not any(each.name == "mat-ping" for each in threading.enumerate()))
    assert [message.rpartition("sent: ")[2] for message in caplog.messages] == logged
