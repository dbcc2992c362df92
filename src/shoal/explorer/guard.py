"""Who may ask: only pages of this server, by its own name, with the token of this run."""

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
"""Of every answer: nothing is framed, sniffed, kept or told to others."""


def new_token() -> str:
    """A word that nobody guesses."""
    return secrets.token_urlsafe(24)


class Guard:
    """Lets requests through that have the token, the right Host and no foreign Origin.

    Parameters
    ----------
    app
        What answers them; it sees paths without the token.
    token
        The first part of every path.
    port
        That the server listens on.
    """

    def __init__(self, app: App, token: str, port: int) -> None:
        self.app, self.token, self.port = app, token, port

    @property
    def names(self) -> set[str]:
        """Hosts that this server goes by."""
        return {f"127.0.0.1:{self.port}", f"localhost:{self.port}"}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer, or refuse with 403."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return

        async def hardened(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *HEADERS]
            await send(message)

        if scope["type"] != "http" or not self.allowed(scope):
            await refuse(scope, hardened)
            return
        rest = scope["path"].split("/", 2)[2] if scope["path"].count("/") > 1 else ""
        inner = dict(scope) | {"path": f"/{rest}", "raw_path": f"/{rest}".encode()}
        await self.app(inner, receive, hardened)

    def allowed(self, scope: Message) -> bool:
        """Whether a request comes from where it should."""
        found: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        host = found.get("host", [])
        if len(host) != 1 or host[0] not in self.names:
            return False
        if any(origin not in {f"http://{name}" for name in self.names}
               for origin in found.get("origin", [])):  # fmt: skip
            return False
        if any(site not in ("same-origin", "none") for site in found.get("sec-fetch-site", [])):
            return False
        first = scope["path"].split("/")[1] if "/" in scope["path"] else ""
        return secrets.compare_digest(first.encode(), self.token.encode())


async def refuse(scope: Message, send: Send) -> None:
    """403, without a reason that would help anyone to guess."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    head = {"type": "http.response.start", "status": 403,
            "headers": [(b"content-type", b"text/plain; charset=utf-8")]}  # fmt: skip
    await send(head)
    await send({"type": "http.response.body", "body": b"not allowed\n"})
