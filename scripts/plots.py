"""The plots of docs/performance.md; run by scripts/plot-performance."""

import json
import pathlib

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = ROOT / "target/bench"
IMAGES = ROOT / "docs/images"
# Told apart without colours too.
STYLES = [
    {"color": "#0072b2", "marker": "o"},
    {"color": "#d55e00", "marker": "s", "linestyle": "--"},
    {"color": "#007a5a", "marker": "^", "linestyle": "-."},
]
# The same file from the same figures.
plt.rcParams.update({"svg.hashsalt": "rotation-game", "font.family": "sans-serif", "svg.fonttype": "none"})


def plot(name, rows, x, panels, logarithmic):
    """A picture with a panel for each of several figures, and a line for each kind of row."""
    figure, axes = plt.subplots(1, len(panels), figsize=(4.6 * len(panels), 3.4), layout="constrained")
    kinds = list(dict.fromkeys(row["what"] for row in rows))
    for axis, (field, title) in zip(axes, panels):
        for kind, style in zip(kinds, STYLES):
            points = [(row[x], row[field]) for row in rows if row["what"] == kind]
            axis.plot(*zip(*points), label=kind, markersize=4, **style)
        axis.set_title(title, fontsize=10)
        axis.set_xlabel(x)
        if logarithmic:
            axis.set_xscale("log")
            axis.set_yscale("log")
        else:
            axis.set_ylim(bottom=0)
        axis.grid(alpha=0.3)
    axes[0].legend(fontsize=8)
    figure.savefig(IMAGES / f"{name}.svg", metadata={"Date": None})
    print(f"docs/images/{name}.svg")


growth = json.loads((BENCH / "http-growth.json").read_text())
requests = [("rate", "requests a second"), ("p99", "99th percentile, ms")]
plot("requests-by-connections", [row for row in growth if "connections" in row], "connections", requests, True)
plot("requests-by-distance", [row for row in growth if "distance" in row], "distance", requests, False)
batch = json.loads((BENCH / "batch.json").read_text())
plot("batch-by-length", batch, "boards", [("rate", "boards a second"), ("peak_mb", "peak memory, MB")], True)
