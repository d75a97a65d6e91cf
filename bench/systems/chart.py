"""Line charts of times, logarithmic in both directions, as an SVG and a PNG file that are the same for the same figures."""

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "diptych"

from matplotlib import pyplot, ticker


def draw(lines, target, title, x_label, y_label, x_ticks=None):
    """lines: from a name to its points, (x, milliseconds). x_ticks: places to label in place of powers of ten."""
    figure, axes = pyplot.subplots(figsize=(8, 5), layout="constrained")
    for name, points in lines.items():
        axes.plot(*zip(*points), marker="o", markersize=4, label=name)
    if x_ticks:
        axes.set_xscale("log", base=2)
        axes.set_xticks(x_ticks, [f"{value:g}" for value in x_ticks])
    else:
        axes.set_xscale("log")
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(ticker.NullFormatter())
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.set_title(title, fontsize="small")
    axes.grid(which="both", alpha=0.3)
    axes.legend()
    figure.savefig(f"{target}.svg", metadata={"Date": None})
    figure.savefig(f"{target}.png", dpi=150)
