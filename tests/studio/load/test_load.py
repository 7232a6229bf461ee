"""What the studio bears: fifty readers and twenty streams while a run computes, a run that begins, and a gigabyte.

These measure time, so they want a quiet machine: `make load`.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

pytestmark = pytest.mark.skipif(
    not os.environ.get("MEDVEIL_LOAD"), reason="measures time on a quiet machine: 'make load' runs it"
)

READERS, STREAMS, SECONDS = 50, 20, 15
ENDLESS = """\
data: data/table.csv
attributes:
  age: {role: quasi, type: number, hierarchy: {type: intervals, domain: [0, 99], widths: [5, 10, 20, 40]}}
  sex: {role: quasi, domain: [F, M]}
  region: {role: quasi, type: category}
  length_of_stay: {role: quasi, type: number, hierarchy: {type: intervals, domain: [0, 400], widths: [10, 20, 40, 80]}}
  disease: {role: sensitive}
privacy: [{model: k-anonymity, k: 5}]
method: {name: exhaustive, generalization: cell, time_limit: 600}
"""
SPINNING = "from medveil.system import lower_priority\nlower_priority()\nwhile True: pass"


def peak(process):
    """The most memory that a process has held, in bytes."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


@pytest.fixture(scope="module")
def job(studio):
    project = studio.uploaded((studio.data / "patients.csv").read_bytes())
    studio.looked(project)
    assert studio.client.post(f"/projects/{project}/policy", data={"text": ENDLESS}).status_code == 200
    path = studio.run(project)
    studio.until(lambda: studio.json(path)["stage"] == "search", "the search")
    # A second core has something to do, too: as a run would, in a process of its own that yields to the pages. In this
    # one it would keep the readers from looking at their clocks.
    spinner = subprocess.Popen([sys.executable, "-c", SPINNING])
    yield path
    spinner.kill()
    spinner.wait()
    studio.client.post(f"{path}/cancel")


def test_a_run_tells_how_it_gets_on_at_once(studio, capsys):
    """From the click to the first stage that a browser is told; a person reads the page before the click."""
    project = studio.uploaded((studio.data / "patients.csv").read_bytes())
    studio.looked(project)
    times = []
    for _ in range(3):
        time.sleep(6)
        started = time.monotonic()
        path = studio.run(project)
        with studio.client.stream("GET", f"{path}/events") as stream:
            next(line for line in stream.iter_lines() if line == "event: stage")
            times.append(time.monotonic() - started)
        assert studio.ended(path)["state"] == "done"
    with capsys.disabled():
        told = ", ".join(f"{seconds:.2f}" for seconds in times)
        sys.stdout.write(f"\nfrom the click to the first stage: {told} s\n")
    assert max(times) < 0.5


def test_fifty_readers_and_twenty_streams_while_a_run_computes(studio, job, capsys):
    base = job.partition("/runs/")[0]
    steps = ("data", "columns", "privacy", "method", "run", "results")
    pages = ["/", "/help", "/log", *(f"{base}/{step}" for step in steps), job]
    times, events = [], []

    async def read(client, number, end):
        # People do not turn pages in step.
        await asyncio.sleep(number / READERS)
        while time.monotonic() < end:
            started = time.monotonic()
            answer = await client.get(pages[number % len(pages)])
            times.append(time.monotonic() - started)
            assert answer.status_code == 200
            # A person looks at a page for a while.
            await asyncio.sleep(1.0)

    async def watch(client, end):
        async with client.stream("GET", f"{job}/events") as stream:
            async for line in stream.aiter_lines():
                events.append(line)
                if time.monotonic() > end:
                    return

    async def all_of_them():
        limits = httpx.Limits(max_connections=None)
        cookies = dict(studio.client.cookies)
        end = time.monotonic() + SECONDS
        async with httpx.AsyncClient(base_url=studio.base, cookies=cookies, limits=limits, timeout=60) as client:
            watching = [asyncio.create_task(watch(client, end)) for _ in range(STREAMS)]
            await asyncio.gather(*(read(client, number, end) for number in range(READERS)))
            for one in watching:
                one.cancel()
            await asyncio.gather(*watching, return_exceptions=True)

    asyncio.run(all_of_them())
    slowest = statistics.quantiles(times, n=20)[-1]
    with capsys.disabled():
        sys.stdout.write(f"\n{len(times)} pages, 95 % under {slowest * 1000:.0f} ms; {len(events)} lines of events\n")
    assert events
    assert slowest < 0.3


def test_a_gigabyte_comes_in_with_little_memory(studio, capsys):
    size, line = 1_000_000_000, b"43,F,Seoul,12\n" * 4096

    def body():
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="big.csv"\r\n\r\nage,sex,region,days\n'
        sent = 0
        while sent < size:
            sent += len(line)
            yield line
        yield b"\r\n--x--\r\n"

    started = time.monotonic()
    headers = {"content-type": "multipart/form-data; boundary=x"}
    answer = studio.client.post("/upload", content=body(), headers=headers, timeout=600)
    seconds = time.monotonic() - started
    assert answer.status_code == 200
    studio.client.post(f"{answer.url.path}/stop")
    memory = peak(studio.process.pid)
    with capsys.disabled():
        sys.stdout.write(
            f"\n1 GB in {seconds:.1f} s, {size / seconds / 1e6:.0f} MB/s; {memory / 1e6:.0f} MB of memory at most\n"
        )
    assert memory < 100e6


def test_the_first_page_comes_soon(start, tmp_path, capsys):
    for name in ("folder", "data", "state"):
        (tmp_path / name).mkdir()
    started = time.monotonic()
    other = start(tmp_path / "folder", tmp_path / "data", tmp_path / "state")
    seconds = time.monotonic() - started
    other.stop()
    with capsys.disabled():
        sys.stdout.write(f"\nthe first page after {seconds:.2f} s\n")
    assert seconds < 2
