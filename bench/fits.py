"""Whole fits at the size of the paper's guppies, each in a fresh process: compilation included."""

import json
import os
import resource
import subprocess
import sys
import time

CASES = {
    "nuts, identity": ("nuts", "Identity()"),
    "laplace, identity": ("laplace", "Identity()"),
    "advi, identity": ("advi", "Identity()"),
    "map, identity": ("map", "Identity()"),
    "nuts, 819 planar bisquare": ("nuts", "Bisquare(circular=False)"),
    "laplace, 819 planar bisquare": ("laplace", "Bisquare(circular=False)"),
}


def one(method: str, basis: str) -> dict[str, float]:
    """Seconds, peak memory and diagnostics of one fit."""
    import shoal  # noqa: PLC0415
    from problem import PASSIVE, SPACE, transitions  # noqa: PLC0415  (in the fresh process)

    counts = transitions()
    kind, _, options = basis.partition("(")
    chosen = getattr(shoal, kind)(**({"circular": False} if "circular" in options else {}))
    start = time.perf_counter()
    fit = shoal.Model(SPACE, PASSIVE, chosen).fit(counts, method, chains=4, draws=1000, seed=1)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    numbers = {"seconds": seconds, "peak_gb": peak}
    if "convergence" in fit.data:
        figures = fit.data["convergence"]
        numbers["r_hat"] = float(figures["r_hat"].max())
        numbers["ess_bulk"] = float(figures["ess_bulk"].min())
        numbers["divergences"] = float(fit.data["sample_stats"]["diverging"].sum())
    return numbers


def main() -> None:
    if len(sys.argv) == 3:
        print(json.dumps(one(*sys.argv[1:])))
        return
    print(f"on {os.cpu_count()} cores, 4 chains × 1,000 draws, compilation included")
    for name, words in CASES.items():
        done = subprocess.run(
            [sys.executable, __file__, *words], capture_output=True, text=True, check=True
        )
        numbers = json.loads(done.stdout)
        print(f"{name:30s}", "  ".join(f"{k} {v:.4g}" for k, v in numbers.items()), flush=True)


if __name__ == "__main__":
    main()
