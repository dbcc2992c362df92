"""The explorer's server: Starlette on a loopback socket, one computation at a time."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from shoal.errors import InputError, OutputError
from shoal.explorer.guard import Guard, new_token
from shoal.explorer.workbench import Workbench, asked

LOOPBACK = "127.0.0.1"
Answer = Callable[[dict[str, Any]], Response]


@dataclass(eq=False)
class Explorer:
    """Serves a workbench on this machine alone.

    Parameters
    ----------
    workbench
        What is shown.
    port
        To listen on; 0 for any that is free.
    token
        The first part of every address; made anew by default.
    """

    workbench: Workbench
    port: int = 0
    token: str = field(default_factory=new_token)
    listening: socket.socket | None = None
    server: uvicorn.Server | None = None
    _busy: threading.Lock = field(default_factory=threading.Lock)

    def open(self) -> str:
        """Begin to listen; gives the address to look at."""
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((LOOPBACK, self.port))
        except OSError as error:
            listening.close()
            raise OutputError(
                f"port {self.port} is taken ({error.strerror}): choose another with --port"
            ) from error
        listening.listen(1024)
        self.listening, self.port = listening, int(listening.getsockname()[1])
        return self.address

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{LOOPBACK}:{self.port}/{self.token}/"

    def serve(self) -> None:
        """Answer until somebody presses Ctrl-C."""
        if self.listening is None:
            self.open()
        settings = uvicorn.Config(
            self.app(),
            log_level="warning",
            access_log=False,
            server_header=False,
            date_header=False,
            ws="none",
            lifespan="off",
            backlog=1024,
        )
        self.server = uvicorn.Server(settings)
        with suppress(KeyboardInterrupt):
            self.server.run(sockets=[self.listening])  # type: ignore[list-item]

    def stop(self) -> None:
        """End after the answers that are under way."""
        if self.server is not None:
            self.server.should_exit = True

    def app(self) -> Guard:
        """What answers requests."""
        bench = self.workbench
        answers: dict[str, Answer] = {
            "contents": lambda _: Response(bench.contents, media_type="application/json"),
            "costs": lambda q: JSONResponse(bench.costs(q["which"], q["draw"], q["discount"])),
            "policy": lambda q: JSONResponse(bench.policy(q["which"], q["draw"], q["state"])),
            "simulate": lambda q: JSONResponse(
                bench.simulate(q["which"], q["draw"], q["rule"], q["speed"], q["seed"])
            ),
            "comparison": lambda _: JSONResponse(bench.comparison),
            "figure.svg": lambda q: self._file(
                bench.figure(q["which"], q["what"], "svg"), "image/svg+xml", f"{q['what']}.svg"
            ),
            "figure.png": lambda q: self._file(
                bench.figure(q["which"], q["what"], "png"), "image/png", f"{q['what']}.png"
            ),
            "numbers.csv": lambda q: self._file(
                bench.numbers(q["which"], q["what"]).encode(), "text/csv", f"{q['what']}.csv"
            ),
        }
        routes = [Route("/", self._page), *(self._route(n, a) for n, a in answers.items())]
        return Guard(Starlette(routes=routes), self.token, self.port)

    async def _page(self, _: Request) -> Response:
        return Response(self.workbench.page, media_type="text/html; charset=utf-8")

    def _route(self, name: str, answer: Answer) -> Route:
        def compute(question: dict[str, Any]) -> Response:
            with self._busy:
                return answer(question)

        async def handle(request: Request) -> Response:
            try:
                question = asked(request.query_params, len(self.workbench.reports))
                return await run_in_threadpool(compute, question)
            except InputError as error:
                return JSONResponse({"error": str(error)}, status_code=400)

        return Route(f"/{name}", handle, methods=["GET"])

    @staticmethod
    def _file(content: bytes, kind: str, name: str) -> Response:
        said = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(content, media_type=kind, headers=said)
