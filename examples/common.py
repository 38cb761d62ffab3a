"""What the examples in Python share: their options, and matplotlib that draws into files."""
import argparse

import abut


def options():
    """What the command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", help="one of abut.devices(), or host")
    parser.add_argument("--plot", metavar="OUT.png", help="draw what came of it; needs matplotlib")
    return parser.parse_args()


def begin():
    """A context in float64 for the device of the command line, and the picture to draw or None."""
    given = options()
    return abut.Context(given.device, precision="f64"), given.plot


def pyplot():
    """matplotlib's pyplot, which needs no screen."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    return plt
