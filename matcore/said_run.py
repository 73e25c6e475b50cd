"""What the commands of agents share: how they are run, how their words are told from options, what they all add."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence

from matcore.errors import BadConfig, MatError, OurMistake, Refused
from matcore.said_here import Seat, supervised


def run(command: Callable[[list[str]], str], argv: Sequence[str], nothing: str = "nothing sent") -> int:
    """Run a command and print what it says; what it refuses goes to stderr, with the exit code of its class.

    `nothing` is the end of the sentence about a disk or folder that failed.
    """
    with_streams()
    try:
        said = command(list(argv))
    except MatError as error:
        from matcore.words.shape import clean  # Only a refusal pays for it; it may quote what it was called with.

        sys.stderr.write(f"{clean(str(error))}\n")
        return error.exit_code
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        sys.stderr.write(f"{where}{error.strerror or error}; `mat doctor` says more; {nothing}\n")
        return Refused.exit_code
    except Exception as error:  # noqa: BLE001 - whatever else escapes is our own mistake, and says so
        import traceback  # Never needed, one hopes, and not cheap.

        traceback.print_exc()
        sys.stderr.write(f"{OurMistake(f'{type(error).__name__}: {error}')}\n")
        return OurMistake.exit_code
    try:
        sys.stdout.write(said + "\n")
        sys.stdout.flush()
    except OSError:  # What was done stands; only the word of it found no room, or no reader.
        sys.stdout = _nowhere()
    return 0


def with_streams() -> None:
    """Python has None for a standard stream that was closed: what is said goes nowhere then, and the rest goes on."""
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()


def _nowhere() -> io.TextIOWrapper:
    return open(os.devnull, "w", encoding="utf-8")


def parsed(
    argv: list[str], usage: str, flags: Sequence[str], nothing: str = "nothing sent"
) -> tuple[set[str], list[str]]:
    """The flags that were given and the other words. Raises `BadConfig` for a flag that is unknown."""
    options: set[str] = set()
    for position, word in enumerate(argv):
        if word == "--":
            return options, [w for w in argv[:position] if w not in options] + argv[position + 1 :]
        if word in ("-h", "--help"):
            options.add("--help")
        elif word in flags:
            options.add(word)
        elif word.startswith("-") and word != "-":
            raise BadConfig([f"there is no option {word}\n{usage}\n{nothing}"])
    return options, [word for word in argv if word not in options]


def fact(seat: Seat, name: str, **fields: object) -> dict[str, object]:
    """The spool record of a fact by this role."""
    mine = {"from": seat.role} if name.startswith("relay.") else {}
    return {"session": seat.session, "fact": name, **mine, **fields}


def waiting(seat: Seat, what: str) -> str:
    """The second line where no supervisor lives; nothing where that can't be seen from here."""
    return f"\nno supervisor is running now; {what} waits for it" if supervised(seat.state_dir) is False else ""


def asked(seat: Seat, question: str, more: str = "") -> str:
    """What an agent is told that has put a question to the human."""
    return f"asked the human ({question}){more}; the answer comes to you as a message, end your turn" + waiting(
        seat, "the question"
    )
