"""Charts of times, as an SVG and a PNG file that are the same for the same figures."""

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "diptych"

from matplotlib import pyplot, ticker


def draw(lines, target, title, x_label, y_label, x_ticks=None):
    """lines: from a name to its points, (x, milliseconds), logarithmic in both directions. x_ticks: places to label in place of
    powers of ten."""
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
    save(figure, target)


def draw_bars(bars, target, title, y_label):
    """bars: from a name to (label, milliseconds) of each group of bars, all with the same labels; logarithmic upwards."""
    figure, axes = pyplot.subplots(figsize=(9, 4.5), layout="constrained")
    width = 0.8 / len(bars)
    for number, (name, values) in enumerate(bars.items()):
        places = [place + (number - (len(bars) - 1) / 2) * width for place in range(len(values))]
        axes.bar(places, [value for _, value in values], width, label=name)
    labels = [label for label, _ in next(iter(bars.values()))]
    axes.set_xticks(range(len(labels)), labels)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(ticker.NullFormatter())
    axes.set_ylabel(y_label)
    axes.set_title(title, fontsize="small")
    axes.grid(axis="y", which="both", alpha=0.3)
    figure.legend(loc="outside lower center", ncols=len(bars))
    save(figure, target)


def draw_panels(panels, target, title, x_label, y_label, marks=None):
    """panels: from a panel's name to lines as draw() has them, logarithmic in both directions, with axes in common. marks: from a panel's
    name to the place of a dotted line upwards."""
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure, grid = pyplot.subplots(rows, columns, figsize=(4 * columns, 3.3 * rows + 0.6), layout="constrained", sharex=True, sharey=True,
                                   squeeze=False)
    for axes, (panel, lines) in zip(grid.flat, panels.items()):
        for name, points in lines.items():
            axes.plot(*zip(*points), marker="o", markersize=3, label=name)
        if marks:
            axes.axvline(marks[panel], color="gray", linestyle=":")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter(ticker.NullFormatter())
        axes.set_title(panel, fontsize="small")
        axes.grid(alpha=0.3)
    for axes in grid[-1]:
        axes.set_xlabel(x_label, fontsize="small")
    figure.supylabel(y_label, fontsize="small")
    figure.suptitle(title, fontsize="small")
    handles, names = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names))
    save(figure, target)


def save(figure, target):
    figure.savefig(f"{target}.svg", metadata={"Date": None})
    figure.savefig(f"{target}.png", dpi=150)
