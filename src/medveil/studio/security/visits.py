"""Who is let in: whoever has the one-time address that was printed, and from then on the cookie that it was given."""

from __future__ import annotations

import hashlib
import secrets
import threading

from starlette.requests import Request
from starlette.responses import Response

from medveil.studio.database import Store, Visit


class Visits:
    """The one-time token of this start, and the browsers that were let in."""

    def __init__(self, store: Store, port: int) -> None:
        self.store = store
        # Cookies know no ports: two studios would take each other's.
        self.cookie = f"medveil_studio_{port}"
        self._token: str | None = None
        self._known: set[str] = set()
        self._lock = threading.Lock()

    def token(self) -> str:
        """A new one-time token; an older one is void."""
        with self._lock:
            self._token = secrets.token_urlsafe(32)
            return self._token

    def enter(self, token: str) -> str | None:
        """The cookie for a token, which is then used up; None for any other."""
        with self._lock:
            if self._token is None or not secrets.compare_digest(token.encode(), self._token.encode()):
                return None
            self._token = None
        cookie = secrets.token_urlsafe(32)
        with self.store() as session:
            session.add(Visit(hash=_hash(cookie)))
        return cookie

    def knows(self, request: Request) -> bool:
        cookie = request.cookies.get(self.cookie)
        if not cookie:
            return False
        hashed = _hash(cookie)
        if hashed in self._known:
            return True
        with self.store() as session:
            found = session.get(Visit, hashed) is not None
        if found:
            # A visit ends with its studio's folder, never before: one look is enough.
            self._known.add(hashed)
        return found

    def give(self, response: Response, cookie: str) -> None:
        response.set_cookie(self.cookie, cookie, httponly=True, samesite="strict", path="/")


def _hash(cookie: str) -> str:
    return hashlib.sha256(cookie.encode()).hexdigest()
