"""A Pydantic AI agent with a store as its toolset. Its model is a function, so no service is asked.

Prints:

    The model was offered: context, recall, remember, retire, revise, show
    It called remember: kept as memory 1
    It called recall: found "Refunds take five days."
    The agent said: Five days.
"""

import asyncio
import json
import sys

from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from onrecord import connect
from onrecord.frameworks.pydantic_ai import OnRecordToolset

STEPS = [
    ToolCallPart("remember", {"content": "Refunds take five days."}),
    ToolCallPart("recall", {"question": "How long does a refund take?"}),
    TextPart("Five days."),
]


def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    step = sum(isinstance(each, ModelResponse) for each in messages)
    if step == 0:
        print("The model was offered:", ", ".join(sorted(tool.name for tool in info.function_tools)))
    else:
        answer = json.loads(messages[-1].parts[0].content)
        if step == 1:
            print("It called remember: kept as memory", answer["memory"]["id"])
        else:
            print(f'It called recall: found "{answer["hits"][0]["memory"]["content"]}"')
    return ModelResponse(parts=[STEPS[step]])


async def main() -> None:
    memory = connect(sys.argv[1] if len(sys.argv) > 1 else ":memory:")
    agent = Agent(FunctionModel(scripted), toolsets=[OnRecordToolset(memory)])
    said = await agent.run("How long do refunds take? They told me five days.")
    print("The agent said:", said.output)
    memory.close()


asyncio.run(main())
