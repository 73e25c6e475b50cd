"""The three ways in which agent programs talk to models, read into `Asked` and written from a `Reply`.

OpenAI chat completions, OpenAI Responses, Anthropic Messages; each as a stream of events and as one object. Only as
much of each as the programs need that were tried with it.
"""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tests.agents.script import Asked, Reply

Json = dict[str, Any]
Event = tuple[str | None, Json | str]
SHELL_TOOLS = (
    "bash",
    "shell",
    "exec_command",
    "shell_command",
    "run_shell_command",
    "local_shell",
    "container.exec",
    "execute_command",
    "terminal",
)
TEXT_TYPES = ("text", "input_text", "output_text")
# What agent programs wrap around what a person typed.
NOISE = re.compile(
    r"<(system-reminder|environment_context|user_instructions|permissions instructions)\b.*?</\1>", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the agent's shell tool."""

    name: str
    arguments: Json


class Dialect(Protocol):
    """One way to talk to a model."""

    name: str

    def read(self, body: Json) -> Asked: ...

    def stream(self, body: Json, reply: Reply, call: Call | None) -> Iterator[Event]:
        """Events with their names; a pause of `reply.gap_s` follows each piece of text."""
        ...

    def whole(self, body: Json, reply: Reply, call: Call | None) -> Json: ...


def shell_call(tools: Mapping[str, Mapping[str, Any]], reply: Reply) -> Call | None:
    """The call that runs `reply.run` with whatever shell tool the agent offers; None when there is none."""
    by_lower = {name.lower(): name for name in tools}
    name = next((by_lower[tool] for tool in SHELL_TOOLS if tool in by_lower), None)
    if name is None or reply.run is None:
        return None
    properties: Mapping[str, Any] = tools[name].get("properties", {})
    arguments: Json = {}
    key = next((key for key in ("command", "cmd") if key in properties), None)
    if key is not None:
        arguments[key] = ["bash", "-lc", reply.run] if properties[key].get("type") == "array" else reply.run
    fill: Json = {"boolean": False, "integer": 10000, "number": 10000, "array": [], "object": {}}
    for required in tools[name].get("required", []):
        arguments.setdefault(required, fill.get(properties.get(required, {}).get("type"), "scripted call"))
    if reply.outside and "sandbox_permissions" in properties:
        arguments |= {"sandbox_permissions": "require_escalated", "justification": "scripted: may I?"}
    if reply.background and "run_in_background" in properties:
        arguments["run_in_background"] = True
    return Call(name, arguments)


def plain(content: object) -> str:
    """The text of a message's content, which is a string or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(text for part in parts for text in _texts(part))


def _texts(part: object) -> list[str]:
    if isinstance(part, dict) and part.get("type") in TEXT_TYPES:
        return [str(part.get("text", ""))]
    return [part] if isinstance(part, str) else []


class _Conversation:
    """Collects the messages of a request in order."""

    def __init__(self) -> None:
        self.system: list[str] = []
        self.users: list[str] = []
        self.results: list[str] = []

    def said_by_user(self, content: object) -> None:
        text = NOISE.sub("", plain(content)).strip()
        if text:
            self.users.append(text)
            self.results = []

    def asked(self, body: Json, tools: Mapping[str, Mapping[str, object]], messages: Sequence[Any]) -> Asked:
        return Asked(
            model=str(body.get("model")),
            stream=bool(body.get("stream")),
            system="\n".join(self.system),
            users=tuple(self.users),
            results=tuple(self.results),
            tools={name: schema for name, schema in tools.items() if name},
            messages=len(messages),
        )


def _id(prefix: str) -> str:
    return prefix + uuid.uuid4().hex[:12]


class Chat:
    """OpenAI chat completions."""

    name = "chat"

    def read(self, body: Json) -> Asked:
        seen = _Conversation()
        messages = body.get("messages") or []
        for message in messages:
            match message.get("role"):
                case "system" | "developer":
                    seen.system.append(plain(message.get("content")))
                case "tool":
                    seen.results.append(plain(message.get("content")))
                case "user":
                    seen.said_by_user(message.get("content"))
                case _:  # what the agent said itself
                    pass
        tools = [tool.get("function") or tool for tool in body.get("tools") or []]
        return seen.asked(body, {tool.get("name"): tool.get("parameters") or {} for tool in tools}, messages)

    def stream(self, body: Json, reply: Reply, call: Call | None) -> Iterator[Event]:
        base = {"id": _id("chatcmpl-"), "object": "chat.completion.chunk", "created": int(time.time())}
        base["model"] = str(body.get("model"))

        def chunk(delta: Json, finish: str | None = None) -> Event:
            return None, {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

        yield chunk({"role": "assistant", "content": ""})
        for piece in reply.text:
            yield chunk({"content": piece})
            time.sleep(reply.gap_s)
        if reply.cut:
            return
        if call:
            yield chunk({"tool_calls": [{"index": 0, **self._tool_call(call)}]})
        yield chunk({}, "tool_calls" if call else "stop")
        yield None, {**base, "choices": [], "usage": self._usage(reply)}
        yield None, "[DONE]"

    def whole(self, body: Json, reply: Reply, call: Call | None) -> Json:
        message: Json = {"role": "assistant", "content": "".join(reply.text)}
        if call:
            message["tool_calls"] = [self._tool_call(call)]
        return {
            "id": _id("chatcmpl-"),
            "object": "chat.completion",
            "created": int(time.time()),
            "model": body.get("model"),
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if call else "stop"}],
            "usage": self._usage(reply),
        }

    @staticmethod
    def _tool_call(call: Call) -> Json:
        function = {"name": call.name, "arguments": json.dumps(call.arguments)}
        return {"id": _id("call_"), "type": "function", "function": function}

    @staticmethod
    def _usage(reply: Reply) -> Json:
        return {"prompt_tokens": reply.tokens, "completion_tokens": 10, "total_tokens": reply.tokens + 10}


class Responses:
    """OpenAI Responses."""

    name = "responses"

    def read(self, body: Json) -> Asked:
        seen = _Conversation()
        seen.system.append(str(body.get("instructions") or ""))
        given = body.get("input")
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given or []
        for item in items:
            kind, role = item.get("type", "message"), item.get("role")
            if kind == "message" and role in ("system", "developer"):
                seen.system.append(plain(item.get("content")))
            elif kind == "message" and role == "user":
                seen.said_by_user(item.get("content"))
            elif kind.endswith("_output"):
                output = item.get("output")
                seen.results.append(output if isinstance(output, str) else plain(output) or json.dumps(output))
        tools = {tool.get("name") or tool.get("type"): tool.get("parameters") or {} for tool in body.get("tools") or []}
        return seen.asked(body, tools, items)

    def stream(self, body: Json, reply: Reply, call: Call | None) -> Iterator[Event]:
        sequence = iter(range(1_000_000))

        def event(kind: str, **fields: object) -> Event:
            return kind, {"type": kind, "sequence_number": next(sequence), **fields}

        message, *calls = self._items(reply, call)
        begun = {**self._response(body, [], reply), "status": "in_progress", "usage": None}
        part = {"type": "output_text", "text": "", "annotations": []}
        at: Json = {"item_id": message["id"], "output_index": 0, "content_index": 0}
        yield event("response.created", response=begun)
        empty = {**message, "content": [], "status": "in_progress"}
        yield event("response.output_item.added", output_index=0, item=empty)
        yield event("response.content_part.added", **at, part=part)
        for piece in reply.text:
            yield event("response.output_text.delta", **at, delta=piece)
            time.sleep(reply.gap_s)
        if reply.cut:
            return
        yield event("response.output_text.done", **at, text="".join(reply.text))
        yield event("response.content_part.done", **at, part=message["content"][0])
        yield event("response.output_item.done", output_index=0, item=message)
        for index, item in enumerate(calls, 1):
            where: Json = {"item_id": item["id"], "output_index": index}
            yield event("response.output_item.added", output_index=index, item={**item, "arguments": ""})
            yield event("response.function_call_arguments.delta", **where, delta=item["arguments"])
            yield event("response.function_call_arguments.done", **where, arguments=item["arguments"])
            yield event("response.output_item.done", output_index=index, item=item)
        done = {**self._response(body, [message, *calls], reply), "id": begun["id"]}
        yield event("response.completed", response=done)

    def whole(self, body: Json, reply: Reply, call: Call | None) -> Json:
        return self._response(body, self._items(reply, call), reply)

    @staticmethod
    def _items(reply: Reply, call: Call | None) -> list[Json]:
        content = [{"type": "output_text", "text": "".join(reply.text), "annotations": []}]
        items: list[Json] = [
            {"type": "message", "id": _id("msg_"), "role": "assistant", "status": "completed", "content": content}
        ]
        if call:
            items.append(
                {
                    "type": "function_call",
                    "id": _id("fc_"),
                    "call_id": _id("call_"),
                    "name": call.name,
                    "arguments": json.dumps(call.arguments),
                    "status": "completed",
                }
            )
        return items

    @staticmethod
    def _response(body: Json, items: Sequence[Json], reply: Reply) -> Json:
        usage = {
            "input_tokens": reply.tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 10,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": reply.tokens + 10,
        }
        return {
            "id": _id("resp_"),
            "object": "response",
            "created_at": int(time.time()),
            "status": "completed",
            "model": body.get("model"),
            "output": list(items),
            "error": None,
            "usage": usage,
        }


class Messages:
    """Anthropic Messages."""

    name = "anthropic"

    def read(self, body: Json) -> Asked:
        seen = _Conversation()
        seen.system.append(plain(body.get("system")))
        messages = body.get("messages") or []
        for message in messages:
            if message.get("role") != "user":
                continue
            content = message.get("content")
            parts = content if isinstance(content, list) else []
            results = [p for p in parts if isinstance(p, dict) and p.get("type") == "tool_result"]
            if not results:
                seen.said_by_user(content)
                continue
            # What is typed while a tool runs comes beside its result: both are new.
            seen.results += [plain(part.get("content")) for part in results]
            typed = NOISE.sub("", plain(content)).strip()
            seen.users += [typed] if typed else []
        tools = {tool.get("name"): tool.get("input_schema") or {} for tool in body.get("tools") or []}
        return seen.asked(body, tools, messages)

    def stream(self, body: Json, reply: Reply, call: Call | None) -> Iterator[Event]:
        def event(kind: str, **fields: object) -> Event:
            return kind, {"type": kind, **fields}

        begun = {**self._message(body, [], reply), "stop_reason": None}
        yield event("message_start", message=begun)
        yield event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        for piece in reply.text:
            yield event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece})
            time.sleep(reply.gap_s)
        if reply.cut:
            return
        yield event("content_block_stop", index=0)
        if call:
            block = {"type": "tool_use", "id": _id("toolu_"), "name": call.name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
            yield event("content_block_start", index=1, content_block=block)
            yield event("content_block_delta", index=1, delta=delta)
            yield event("content_block_stop", index=1)
        stop = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
        yield event("message_delta", delta=stop, usage={"input_tokens": reply.tokens, "output_tokens": 10})
        yield event("message_stop")

    def whole(self, body: Json, reply: Reply, call: Call | None) -> Json:
        content: list[Json] = [{"type": "text", "text": "".join(reply.text)}]
        if call:
            content.append({"type": "tool_use", "id": _id("toolu_"), "name": call.name, "input": call.arguments})
        return {**self._message(body, content, reply), "stop_reason": "tool_use" if call else "end_turn"}

    @staticmethod
    def _message(body: Json, content: list[Json], reply: Reply) -> Json:
        return {
            "id": _id("msg_"),
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "content": content,
            "stop_sequence": None,
            "usage": {"input_tokens": reply.tokens, "output_tokens": 10},
        }


DIALECTS: Mapping[str, Callable[[], Dialect]] = {
    "/chat/completions": Chat,
    "/responses": Responses,
    "/messages": Messages,
}
