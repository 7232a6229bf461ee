"""What every part of a policy shares."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class PolicyPart(BaseModel):
    """Frozen, and with no other keys than its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")
