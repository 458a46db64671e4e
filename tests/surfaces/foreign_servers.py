"""A server of others, which uses what the protocol offers: `whole().run()` serves over standard input and output."""

from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import SamplingMessage, TextContent
from pydantic import BaseModel


class Count(BaseModel):
    table: str
    rows: int


class Sure(BaseModel):
    sure: bool


def whole(*middleware: Any) -> MCPServer:
    server = MCPServer("warehouse", instructions="Ask me about tables.", middleware=middleware)

    @server.tool()
    def count(table: str) -> Count:
        return Count(table=table, rows=3)

    @server.tool(structured_output=False)
    def describe(table: str) -> str:
        return f"{table} has rows"

    @server.tool(structured_output=False)
    def query(sql: str) -> str:
        if "profit" in sql:
            raise ValueError("no such column: profit")
        return "12"

    @server.tool(structured_output=False)
    def ping() -> str:
        return "nothing to see"

    @server.tool(structured_output=False)
    async def drop(table: str, context: Context) -> str:
        await context.report_progress(1, 2, "asking")
        answer = await context.elicit(f"Drop {table}?", Sure)
        return f"{answer.action} {table}"

    @server.tool(structured_output=False)
    async def summary(table: str, context: Context) -> str:
        message = SamplingMessage(role="user", content=TextContent(text=f"Sum up {table}"))
        answer = await context.session.create_message([message], max_tokens=20)
        return str(getattr(answer.content, "text", ""))

    @server.resource("table://orders")
    def orders() -> str:
        return "shop.orders"

    @server.prompt()
    def look(table: str) -> str:
        return f"Look at {table}"

    return server
