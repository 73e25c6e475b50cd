"""Somebody cleans `.mat/` away while handoffs wait in it to be read."""

from __future__ import annotations

import shutil
from pathlib import Path

from matcore import said_sent
from matcore.words import notices
from tests.stories.world import World

TEXT = "# Please review\n\nThe parser, with its tests.\n"


def hand_over(world: World, text: str = TEXT, sender: str = "dev", to: str = "review") -> str:
    """What `send-relay` does. Returns where the copy stands."""
    places = world.folder_of()
    draft = said_sent.Draft(session="duo", spool=str(places.spool(sender)), sender=sender, to=to, text=text)
    said_sent.send(str(places.root), draft, again=True)
    world.settle()
    return str(world.entries("relay.sent")[-1]["path"])


def clean(world: World, *also: Path) -> None:
    for folder in (world.folder_of().root, *also):
        shutil.rmtree(folder)
    world.advance(5)


def copies(world: World) -> Path:
    return world.places.session("duo") / "handoffs"


def test_a_handoff_that_was_not_read_stands_where_its_pointer_says(world: World) -> None:
    """The recipient is busy, the folder goes: what it is given a moment later is there, as it was sent."""
    world.up()
    world.driver.see("duo", "role.busy", "review")
    path = hand_over(world)
    clean(world)
    assert Path(path).read_text() == TEXT
    world.driver.end_turn("duo", "review")
    world.settle()
    assert path in world.driver.seats["duo", "review"].texts[0]
    assert len([text for text in world.told if "have been made again" in text]) == 1
    assert not [text for text in world.told if "Lost" in text]


def test_what_is_owed_stands_there_for_the_ladder_too(world: World) -> None:
    """Delivered, not answered, cleaned away: the redelivery points to a file that is there. A restart loses no copy."""
    world.driver.on_text = lambda session, role, _text: world.driver.end_turn(session, role)
    world.up()
    path = hand_over(world)
    world.restart()
    clean(world)
    world.advance(700)
    assert any(path in text for text in world.driver.submitted if "[relay-redelivery=" in text)
    assert Path(path).read_text() == TEXT


def test_a_new_prompt_of_a_verdict_stands_there_again(world: World) -> None:
    """A letter's own file is kept like the handoff that it came with."""
    world.up()
    world.driver.see("duo", "role.busy", "dev")
    prompt = "Read TASK.md. " * 100
    hand_over(world, f'{{"verdict": "retry", "new_prompt": "{prompt}"}}', sender="review", to="dev")
    path = Path(str(world.entries("relay.sent")[-1]["letter"]["path"]))
    clean(world)
    assert path.read_text() == prompt


def test_a_text_that_can_not_be_had_is_told_with_what_to_do(world: World) -> None:
    """The copy is gone as well: one notice names the relay and how to have it again, and it is trouble until then."""
    world.up()
    world.driver.see("duo", "role.busy", "review")
    hand_over(world)
    clean(world, copies(world))
    (told,) = [text for text in world.told if "have been made again" in text]
    assert "r-000001" in told
    assert 'mat send duo dev "Send r-000001' in told
    assert "r-000001" in world.session().ledger.troubles["handoffs"]
    world.advance(60)
    assert len(world.told) == 1
    hand_over(world, sender="review", to="dev")
    world.driver.end_turn("duo", "review")
    world.settle()
    hand_over(world, sender="review", to="dev")
    world.advance(5)
    assert world.session().ledger.troubles == {}


def test_a_copy_that_was_changed_is_no_copy(world: World) -> None:
    """What is put back is what was sent, or nothing."""
    world.up()
    world.driver.see("duo", "role.busy", "review")
    path = hand_over(world)
    (copy,) = copies(world).iterdir()
    copy.write_text("something else")
    clean(world)
    assert not Path(path).exists()
    assert "handoffs" in world.session().ledger.troubles


def test_copies_go_when_nobody_needs_them_any_more(world: World) -> None:
    """What was answered goes with the next handoff of that way; all of them with the session."""
    world.driver.on_text = lambda session, role, _text: world.driver.end_turn(session, role)
    world.up()
    for number in range(4):
        hand_over(world, f"to review {number}")
        hand_over(world, f"to dev {number}", sender="review", to="dev")
    world.advance(5)
    assert len(list(copies(world).iterdir())) <= 4
    assert all(each.stat().st_mode & 0o077 == 0 for each in (copies(world), *copies(world).iterdir()))
    world.human(request="down")
    assert not copies(world).exists()


def test_the_notice_of_a_lost_text_fits_whatever_its_number() -> None:
    """Under 1 KiB, with the command for the first."""
    lost = [f"r-{number:06d} from dev to review" for number in range(200)]
    said = notices.notice("recreated", session="duo", what=["duo/handoffs"], lost=lost, again="mat send duo dev TEXT")
    assert len(said.encode()) < 1024
