"""Bringing a person to where a request waits. What the client says to that is never the approval: it may be the agent.

In the protocol of 2026 the call is answered with what has to be opened, and sent again; before that, the client is
asked while the call waits. Either way the call's answer is `approval_required` in the end, as without any of this.
"""

import logging
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from falsify.errors import FalsifyError
from surfaces.mcp.desk import Desk, Served
from surfaces.mcp.rows import Reply

logger = logging.getLogger(__name__)

PATIENCE: Final = 60
"""Seconds that a call waits for the client to say that it has opened the page, or has not."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request that an answer says waits for a person: its id, the project it is of, and who asked."""

    approval_id: str
    project_id: str
    caller: str

    def waits(self, served: Served) -> bool:
        """Return whether it still does: the same call may be sent again when somebody has answered."""
        approval = served.workspace.of(self.project_id).project.approvals.get(self.approval_id)
        return approval is not None and approval.status == "pending"


def waiting(reply: Reply, caller: str) -> Waiting | None:
    """Return the request that an answer says waits for a person, None if none does."""
    if reply.structured.get("status") != "approval_required":
        return None
    asked = reply.structured["approval"]
    return Waiting(asked["id"], asked["project_id"], caller)


def opens_urls(context: ServerRequestContext[Any, Any]) -> bool:
    """Return whether the client says that it can bring a person to a URL."""
    capabilities = context.session.client_capabilities
    return bool(capabilities and capabilities.elicitation and capabilities.elicitation.url is not None)


async def bring(
    context: ServerRequestContext[Any, Any], asked: Waiting, template: str, desk: Desk
) -> types.InputRequiredResult | None:
    """Bring a person to the request; return what the call is answered with first, None if it is answered as it is."""
    waits = False
    with suppress(FalsifyError):  # the request is recorded: whatever is in the way now, the call says so
        waits = await desk.run(asked.waits, caller=asked.caller)
    if not waits:
        return None
    url = template.replace("{id}", quote(asked.approval_id, safe=""))
    message = f"The request {asked.approval_id} waits for a person. Opening this page approves nothing by itself."
    if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
        elicited = types.ElicitRequest(params=types.ElicitRequestURLParams(message=message, url=url))
        return types.InputRequiredResult(input_requests={"approval": elicited})
    try:
        with anyio.move_on_after(PATIENCE) as waiting_for_client:
            await context.session.elicit_url(message, url, asked.approval_id, related_request_id=context.request_id)
        if waiting_for_client.cancelled_caught:
            logger.warning("the client was asked to open %s, and said nothing for %d seconds", url, PATIENCE)
    except MCPError as error:  # also where there is no way back to the client
        logger.warning("the client did not open %s: %s", url, error)
    except ValidationError:
        logger.warning("the client was asked to open %s, and answered what is no answer to that", url)
    return None
