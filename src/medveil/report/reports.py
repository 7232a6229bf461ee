"""The two pages of a release, and writing them where they belong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from medveil.errors import CancelledError
from medveil.evaluation.comparison import Comparison
from medveil.release.manifest import INTERNAL, Manifest, file_hash
from medveil.report.content import Page
from medveil.report.page import render
from medveil.report.recipients import recipients_page
from medveil.report.steward import StewardFindings, steward_page
from medveil.run import Run, Stage

REPORT = "report.html"
NOT_MEASURED = "not measured"
"""Under this name the steward's files say that measuring failed."""


@dataclass(frozen=True)
class Reports:
    """The page for recipients and the steward's: numbers alone, drawn when they are written.

    optional: the steward's page is left out where it cannot be drawn, because a refusal would tell recipients what the
        data hold.
    """

    recipients: Page
    steward: Page | None
    optional: bool = False

    def write(self, folder: Path, manifest: Manifest, run: Run | None = None) -> Manifest:
        """Write both pages into a release directory; the manifest then lists the one that is published."""
        run = run or Run()
        page = render(self.recipients, lambda share: run.step(Stage.DRAW, share / 2))
        (folder / REPORT).write_text(page, encoding="utf-8")
        drawn = self._steward(run)
        if drawn is not None:
            (folder / INTERNAL / REPORT).write_text(drawn, encoding="utf-8")
        listed = replace(manifest, files={**manifest.files, REPORT: file_hash(folder / REPORT)})
        listed.write(folder)
        return listed

    def _steward(self, run: Run) -> str | None:
        if self.steward is None:
            return None
        try:
            return render(self.steward, lambda share: run.step(Stage.DRAW, (1 + share) / 2))
        except CancelledError:
            raise
        except Exception:
            if self.optional:
                return None
            raise


def make_reports(manifest: Manifest, comparison: Comparison, content: Mapping[str, Any]) -> Reports:
    """The pages of a release; `content` is what else is written for the steward, by name.

    Where nothing could be measured there is no page for the steward. What recipients get does not depend on that.
    """
    comparison = comparison.by_row
    recipients = recipients_page(manifest, comparison.published, comparison.companions)
    if NOT_MEASURED in content:
        return Reports(recipients, None)
    optional = any(model.declared_domains for model in comparison.problem.models)
    found = StewardFindings(content["measures"], content["risks"], content["leakage"], content)
    try:
        return Reports(recipients, steward_page(manifest, comparison, found), optional)
    except CancelledError:
        raise
    except Exception:
        if optional:
            return Reports(recipients, None)
        raise
