"""CAN a program see what an operation takes? Its parameters are those of its request, on every door."""

import asyncio
import inspect
import json
from collections.abc import Callable
from dataclasses import MISSING
from typing import Any, get_type_hints

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from onrecord import connect
from onrecord.aio import AsyncOnRecord
from onrecord.client import AsyncClient, Client
from onrecord.features import OPERATIONS
from onrecord.model.request import request_fields
from onrecord.model.unset import Unset
from onrecord.operation import Operation
from onrecord.service import OnRecord


@pytest.mark.parametrize("door", [OnRecord, AsyncOnRecord, Client, AsyncClient])
def test_methods_show_the_fields_of_their_requests(door: type) -> None:
    for operation in OPERATIONS:
        if hasattr(door, operation.name):
            _check(getattr(door, operation.name), operation)
        else:
            assert operation.route is None


def _check(method: Callable[..., Any], operation: Operation) -> None:
    shown = [each for each in inspect.signature(method).parameters.values() if each.name != "self"]
    fields = request_fields(operation.request)
    assert [each.name for each in shown] == [each.name for each in fields]
    for parameter, field in zip(shown, fields, strict=True):
        assert (parameter.kind is inspect.Parameter.KEYWORD_ONLY) == field.kw_only
        if field.default is MISSING:
            assert parameter.default is inspect.Parameter.empty
        else:
            assert parameter.default is field.default
    hints = get_type_hints(method)
    assert hints.pop("return") == operation.answer
    assert not any(Unset in getattr(each, "__args__", ()) for each in hints.values())


def test_a_framework_makes_tools_of_the_methods() -> None:
    """A scripted model saves and asks; the tools' schemas, arguments and answers are the framework's doing."""
    with connect(":memory:") as memory:
        told: list[dict[str, Any]] = []

        def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            offered = {tool.name: tool.parameters_json_schema for tool in info.function_tools}
            assert offered["recall"]["required"] == ["question"]
            assert "workflow" in json.dumps(offered["remember"]["properties"]["kind"])
            answers = [
                part for message in messages for part in message.parts if isinstance(part, ToolReturnPart)
            ]
            if not answers:
                saved = {"content": "Revenue is net of refunds", "kind": "fact", "tags": ["finance"]}
                return ModelResponse([ToolCallPart("remember", saved)])
            if len(answers) == 1:
                return ModelResponse([ToolCallPart("recall", {"question": "what is revenue net of?"})])
            told.append(json.loads(answers[-1].model_response_str()))
            return ModelResponse([TextPart("done")])

        agent = Agent(FunctionModel(model), tools=[memory.remember, memory.recall])
        # Its own `run_sync` leaves a loop behind that nobody closes.
        asyncio.run(agent.run("learn and tell"))
        [answer] = told
        assert answer["hits"][0]["memory"]["content"] == "Revenue is net of refunds"
        assert memory.show("1").memory.tags == ("finance",)


def test_an_answer_is_a_dictionary_for_whoever_wants_one() -> None:
    with connect(":memory:") as memory:
        saved = memory.remember("Revenue is net of refunds").to_dict()
        assert (saved["memory"]["id"], saved["outcome"]) == ("1", "created")
        told = memory.recall("revenue").to_dict()
        assert told["hits"][0]["memory"]["content"] == "Revenue is net of refunds"
        assert told == json.loads(json.dumps(told)), "plain values alone"


def test_every_answer_has_it() -> None:
    kinds = {operation.answer for operation in OPERATIONS}
    assert [each for each in kinds if not hasattr(each, "to_dict")] == []
