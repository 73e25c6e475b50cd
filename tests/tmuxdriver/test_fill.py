"""The placeholders of profiles."""

from __future__ import annotations

import hashlib

from tmuxdriver.fill import filled
from tmuxdriver.profile import load

MEASURED = "1258b64625294e52deb6b4e47a448cc2045cd7070505bb1aeb671b3d74919579"


def test_names_that_are_not_known_stay() -> None:
    """Braces are common in what programs take."""
    assert filled("{a} {b} {}", {"a": "1"}) == "1 {b} {}"


def test_a_digest_is_taken_of_what_was_filled_in() -> None:
    """Placeholders within are filled first."""
    assert filled("x={sha256({a}(b))}.", {"a": "A"}) == f"x={hashlib.sha256(b'A(b)').hexdigest()}."


def test_codex_trusts_the_hooks_that_it_is_given() -> None:
    """The digest is the one that Codex 0.171 wrote itself for a hook of that command; each hook has its own."""
    state = load("codex").hooks.args[-1]
    command = "/".join(("", "root", "ca3dqi0v9", "hook.sh SessionStart"))  # as measured, where it was measured
    assert MEASURED in filled(state.replace("{mat} hook codex session-start", command), {})
    given = [argument.partition("=")[0] for argument in load("codex").hooks.args[1:-1:2]]
    assert state.count("trusted_hash") == len(given) == 4
