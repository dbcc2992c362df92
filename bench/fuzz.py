"""Damaged files for every reader: each is read, or refused with one clear line.

    python bench/fuzz.py                              10,000 files, seed 1
    python bench/fuzz.py --files 2000 --samples DIR   real samples instead of made-up files
    python bench/fuzz.py --only robofish --keep bad   one reader; files that failed are kept

Files are read in a process that may grow by 1 GB and take 10 s for each; one that crashes or hangs
is replaced. A failure is anything but tracks or an InputError, and also a warning that is not ours.
"""

import argparse
import importlib
import multiprocessing
import re
import shutil
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from fuzz_worker import LIMIT_SECONDS, Outcome, serve

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
FAILURES = ("traceback", "warning", "memory", "hang", "crash")
COLUMNS = ("read", "refused", *FAILURES)


class Worker:
    """A process that reads files, replaced where it dies or hangs."""

    def __init__(self, warm: list[tuple[str, str]]) -> None:
        self.warm = warm
        self.start()

    def start(self) -> None:
        """A new process, ready to read."""
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, self.warm), daemon=True)
        self.process.start()
        theirs.close()
        self.pipe.recv()  # imports are done

    def read(self, how: str, path: Path, again: bool = False) -> Outcome:
        """What reading a file gives, in time (the second time, if not the first) and alive."""
        self.pipe.send((how, str(path)))
        if not self.pipe.poll(LIMIT_SECONDS):
            late = self._replaced("hang", f"still reading after {LIMIT_SECONDS:g} s")
            return late if again else self.read(how, path, again=True)  # others keep us waiting
        try:
            return self.pipe.recv()
        except EOFError:
            self.process.join()
            return self._replaced("crash", f"the process ended with {self.process.exitcode}")

    def _replaced(self, kind: str, words: str) -> Outcome:
        self.stop()
        self.start()
        return Outcome(kind, words, 0, LIMIT_SECONDS)

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()


def normalised(message: str, folder: Path) -> str:
    """The sentence of a message, without what differs from file to file.

    Paths, numbers, quoted words, lists of columns and, in brackets, a library's own words.
    """
    words = re.sub(rf"{re.escape(str(folder))}[^\s:,()]*", "FILE", message)
    words = re.sub(r"b?'(?:[^'\\]|\\.)*'|b?\"(?:[^\"\\]|\\.)*\"", "'…'", words)
    words = re.sub(r"(no format that can be read \().*", r"\1…). Tried …", words)
    words = re.sub(r"\(.*\)|\(.*", "(…)", words)
    words = re.sub(r"(got|there are|no column '…' in) .*", r"\1 …", words)
    words = re.sub(r"[-+]?\d[\d.,]*(?:e[-+]?\d+)?|[-+]?\b(?:inf|nan)\b", "N", words)
    return re.sub(r"[^\x20-\x7e…–—°²³⁶·×−’]+", "?", words)[:300]


def run(options: argparse.Namespace, folder: Path) -> dict[str, list[Outcome]]:
    specimens, mutations = (importlib.import_module(n) for n in ("specimens", "mutations"))
    whole = folder / "whole"
    whole.mkdir()
    found = specimens.samples(options.samples) if options.samples else specimens.specimens(whole)
    found = [one for one in found if not options.only or one.name in options.only]
    contents = [one.path.read_bytes() for one in found]
    worker = Worker([(one.how, str(one.path)) for one in found])
    outcomes: dict[str, list[Outcome]] = defaultdict(list)
    start = time.perf_counter()
    for number in range(options.files):
        which = number % len(found)
        one, rng = found[which], np.random.default_rng([options.seed, number])
        place = folder / "damaged"
        place.mkdir()
        path = one.laid_out(place, mutations.mutated(rng, contents[which]))
        outcome = worker.read(one.how, path)
        outcomes[one.name].append(outcome)
        if outcome.kind in FAILURES:
            print(f"{number} {one.name}: {outcome.kind}: {outcome.message}", flush=True)
            if options.keep:
                shutil.copytree(place, Path(options.keep) / f"{number}", dirs_exist_ok=True)
        shutil.rmtree(place)
        if number % 500 == 499:
            print(f"… {number + 1} files, {time.perf_counter() - start:.0f} s", flush=True)
    worker.stop()
    return outcomes


def report(outcomes: dict[str, list[Outcome]], folder: Path) -> int:
    """Print counts for each reader and the distinct messages; how many failed."""
    everything = [one for part in outcomes.values() for one in part]
    print(f"\n{'reader':34}" + "".join(f"{name:>10}" for name in COLUMNS))
    for name, part in [*outcomes.items(), ("all", everything)]:
        counts = Counter(one.kind for one in part)
        print(f"{name:34}" + "".join(f"{counts[kind]:10}" for kind in COLUMNS))
    refusals = Counter(
        normalised(one.message, folder) for one in everything if one.kind == "refused"
    )
    print(f"\n{len(refusals)} distinct messages")
    for message, count in refusals.most_common():
        print(f"{count:6}  {message}")
    slowest = max(one.seconds for one in everything)
    print(
        f"\nslowest {slowest:.2f} s; most memory {max(o.growth for o in everything) / 1e6:.0f} MB"
    )
    return sum(one.kind in FAILURES for one in everything)


def main(arguments: Any = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--samples", help="a folder of real files")
    parser.add_argument("--only", nargs="*", help="names of readers")
    parser.add_argument("--keep", help="a folder for files that failed")
    options = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    try:
        failed = report(run(options, folder), folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{failed} of {options.files} files failed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
