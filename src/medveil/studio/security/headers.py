"""What every answer says to the browser, and which requests get one at all.

The studio listens on the loopback alone. What can still reach it are other pages in the user's browser and other
programs on the machine: the first are kept out by the name they asked for (a page whose own name was pointed here asks
for that name), by where they come from, and by a cookie that no other site sends; the second by that cookie.
"""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)
REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'self'"
"""Of reports, which hold their own style and no script, and are shown in a sandbox."""
ALWAYS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
SAFE = {"GET", "HEAD", "OPTIONS"}


class RequestGuard:
    """Answers only requests for this studio's own names, and changes something only for its own pages."""

    def __init__(self, app: ASGIApp, names: frozenset[str]) -> None:
        self.app = app
        self.names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in ALWAYS.items():
                    headers.setdefault(name, value)
            await send(message)

        refused = self._refused(scope["method"], Headers(scope=scope))
        if refused is None:
            await self.app(scope, receive, with_headers)
        else:
            await PlainTextResponse(refused, 403)(scope, receive, with_headers)

    def _refused(self, method: str, headers: Headers) -> str | None:
        if len(headers.getlist("host")) != 1 or headers["host"].lower() not in self.names:
            return "This is not the name of this studio. Open the address that 'medveil studio' printed."
        if method in SAFE or self._from_here(headers):
            return None
        return "This did not come from a page of this studio. Reload the page and try again."

    def _from_here(self, headers: Headers) -> bool:
        """Browsers say from which site a request comes; the origin is hidden by no-referrer and only the older way."""
        site = headers.get("sec-fetch-site")
        if site is not None:
            return site == "same-origin"
        return headers.get("origin", "").lower() in {f"http://{name}" for name in self.names}
