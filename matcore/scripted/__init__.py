"""The scripted agent: a full-screen program that behaves like a real coding agent and plays a YAML script.

It stands in for one in tests and in `mat demo`, so it imports nothing of mat: what mat makes of it must come through
its screen, its title, its hooks and its exit, as with any agent program.

- `script`, `reading`, `reading_steps`, `values`: the script as typed data, and how it is read with every fault at once
- `steps`, `stage`, `templates`: what a step does, said to a stage; values taken from the message just received
- `keys`, `editor`, `glyphs`, `view`: bytes to keys, keys to a draft, text to rows, state to a frame (all pure)
- `agent` with `turn`, `dialog`, `acting`, `around`: the program as a state machine that is told the time
- `shell`, `hooks`, `memory`, `log`: commands, hook commands, the session's file, the log of all that was received
- `painter`, `terminal`, `signals`, `loop`: frames to bytes, the tty, signals, the one loop
- `headless`: one turn without a terminal
"""
