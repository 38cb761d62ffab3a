"""Tests whether an installed abut computes: try_wheel.py ASSETS, run by check_wheel.py."""
import pathlib
import sys

import numpy as np

import abut

assets = pathlib.Path(sys.argv[1])
poses = np.zeros((4, 6))
poses[:, 5] = np.linspace(0.0, 0.3, 4)  # along z, starting with overlap

with abut.Context("host", precision="f64") as context:
    a, b = (context.load(assets / f"{name}.body.json") for name in ("figure", "part"))
    pair = abut.Pair(a, b)
    contacts = abut.contacts(pair, np.zeros(6), poses)
    shape = (4, pair.C)
    assert contacts.d.shape == shape and contacts.p.shape == (*shape, 3), contacts.d.shape
    assert not contacts.status.any() and np.isfinite(contacts.p).all()
    assert contacts.d[0].min() < 0, "bodies at one place are in each other"
    deepest = contacts.d[:, :pair.layout.vertices[0] + pair.layout.vertices[1]].min(axis=1)
    value = abut.reduce(pair, np.zeros(6), poses, "minimum_distance").value
    assert np.allclose(value, deepest), (value, deepest)
devices = [device.name for device in abut.devices()]
assert devices[-1] == "host", devices
print(f"abut {abut.__version__}, numpy {np.__version__}, {pair.C} contacts, least "
      f"{deepest[0]:.6f} m, devices: {', '.join(devices)}")
