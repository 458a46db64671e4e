"""An agent of the OpenAI Agents SDK whose conversation and memories are kept here. Its model is scripted, so no service is asked.

Prints:

    The model was offered: context, recall, show, remember, revise, retire
    I have noted it.
    The model was sent 5 items of the session: a question, a call, its answer, a reply, a question
    Fridays.
    A person finds: Deploys are on Fridays.
"""

import asyncio
import json
import sys

from agents import Agent, Runner, set_tracing_disabled
from agents.testing import ScriptedModel
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from onrecord import connect
from onrecord.frameworks.openai_agents import OnRecordSession, tools

set_tracing_disabled(True)


def says(text: str) -> ResponseOutputMessage:
    content = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(
        id="m", type="message", role="assistant", status="completed", content=[content]
    )


def calls(name: str, **arguments: str) -> ResponseFunctionToolCall:
    told = json.dumps(arguments)
    return ResponseFunctionToolCall(type="function_call", call_id="c", name=name, arguments=told)


async def main() -> None:
    memory = connect(sys.argv[1] if len(sys.argv) > 1 else ":memory:")
    model = ScriptedModel(
        [
            [calls("remember", content="Deploys are on Fridays.")],
            [says("I have noted it.")],
            [says("Fridays.")],
        ]
    )
    agent = Agent(name="Assistant", model=model, tools=tools(memory))
    print("The model was offered:", ", ".join(tool.name for tool in agent.tools))

    noted = await Runner.run(agent, "We deploy on Fridays.", session=OnRecordSession("ops", memory))
    print(noted.final_output)
    asked = await Runner.run(agent, "When do we deploy?", session=OnRecordSession("ops", memory))
    sent = len(await OnRecordSession("ops", memory).get_items()) - 1
    print(
        f"The model was sent {sent} items of the session: a question, a call, its answer, a reply, a question"
    )
    print(asked.final_output)
    print("A person finds:", memory.recall("deploys").hits[0].memory.content)
    memory.close()


asyncio.run(main())
