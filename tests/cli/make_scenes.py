"""Writes a box of 0.3 x 0.2 x 0.1 m in the formats that Assimp reads: make_scenes.py FOLDER

box.obj is the same, written plainly. Of Python's own library alone: each file is written out here, so
that nothing but Assimp has a say in how it is read.
"""
import base64
import json
import pathlib
import struct
import sys

SIZE = (0.3, 0.2, 0.1)
CORNERS = [tuple(SIZE[k] if corner >> k & 1 else 0.0 for k in range(3)) for corner in range(8)]
TRIANGLES = [(0, 2, 3), (0, 3, 1), (4, 5, 7), (4, 7, 6), (0, 1, 5), (0, 5, 4), (2, 6, 7), (2, 7, 3),
             (0, 4, 6), (0, 6, 2), (1, 3, 7), (1, 7, 5)]
HALF_TURN = [0.0, 0.0, 0.7071067811865476, 0.7071067811865476]  # a quarter about z, x y z w


def binary(corners=CORNERS, triangles=TRIANGLES):
    """(positions and indices behind each other, length of the positions)"""
    positions = b"".join(struct.pack("<3f", *corner) for corner in corners)
    return positions + b"".join(struct.pack("<3H", *t) for t in triangles), len(positions)


def gltf(nodes, uri=None, corners=CORNERS, triangles=TRIANGLES, mode=4, roots=(0,), meshes=1):
    data, split = binary(corners, triangles)
    buffer = {"byteLength": len(data)}
    if uri:
        buffer["uri"] = uri
    mesh = {"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "mode": mode}]}
    used = [c for c in corners if all(abs(x) < 1e30 for x in c)] or [(0.0, 0.0, 0.0)]
    return data, {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": list(roots)}], "nodes": nodes,
        "meshes": [mesh] * meshes, "buffers": [buffer],
        "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": split},
                        {"buffer": 0, "byteOffset": split, "byteLength": len(data) - split}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": len(corners), "type": "VEC3",
                       "min": [min(c[k] for c in used) for k in range(3)],
                       "max": [max(c[k] for c in used) for k in range(3)]},
                      {"bufferView": 1, "componentType": 5123, "count": 3 * len(triangles),
                       "type": "SCALAR"}]}


def glb(*arguments, **settings):
    data, tree = gltf(*arguments, **settings)
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    data += b"\0" * (-len(data) % 4)
    return (struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(data)) +
            struct.pack("<I4s", len(text), b"JSON") + text +
            struct.pack("<I4s", len(data), b"BIN\0") + data)


def dae(unit="1", up="Y_UP", node="", corners=CORNERS, faces=True):
    """The box as 12 triangles, in `unit` metres, below a node with what `node` says."""
    indices = " ".join(str(i) for t in TRIANGLES for i in t) if faces else ""
    count = len(TRIANGLES) if faces else 0
    numbers = " ".join(repr(x) for corner in corners for x in corner)
    return f"""<?xml version="1.0" encoding="utf-8"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit name="own" meter="{unit}"/><up_axis>{up}</up_axis></asset>
  <library_geometries><geometry id="box" name="box"><mesh>
    <source id="box-p"><float_array id="box-a" count="{3 * len(corners)}">{numbers}</float_array>
      <technique_common><accessor source="#box-a" count="{len(corners)}" stride="3">
        <param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/>
      </accessor></technique_common></source>
    <vertices id="box-v"><input semantic="POSITION" source="#box-p"/></vertices>
    <triangles count="{count}"><input semantic="VERTEX" source="#box-v" offset="0"/><p>{indices}</p></triangles>
  </mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="scene" name="scene">
    <node id="node" name="node">{node}<instance_geometry url="#box"/></node>
  </visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#scene"/></scene>
</COLLADA>
"""


def main():
    folder = pathlib.Path(sys.argv[1])

    def put(name, content):
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    put("box.obj", "".join(f"v {x!r} {y!r} {z!r}\n" for x, y, z in CORNERS) +
        "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in TRIANGLES))
    plain = [{"mesh": 0}]
    put("box.glb", glb(plain))
    put("UPPER.GLB", glb(plain))
    data, tree = gltf(plain, uri="box.bin")
    put("box.gltf", json.dumps(tree))
    put("box.bin", data)
    data, tree = gltf(plain, uri="data:application/octet-stream;base64,")
    tree["buffers"][0]["uri"] += base64.b64encode(data).decode()
    put("embedded.gltf", json.dumps(tree))
    put("box.dae", dae())

    # A parent that turns and moves, a child twice as large in x.
    moved = [{"translation": [1.0, 2.0, 3.0], "rotation": HALF_TURN, "children": [1]},
             {"mesh": 0, "scale": [2.0, 1.0, 1.0]}]
    put("moved.glb", glb(moved))
    put("mirror.glb", glb([{"mesh": 0, "scale": [-1.0, 1.0, 1.0]}]))
    put("both.glb", glb([{"mesh": 0}, {"mesh": 1, "translation": [1.0, 0.0, 0.0], "scale": [1.0, -1.0, 1.0]}],
                        roots=(0, 1), meshes=2))
    big = [tuple(1000.0 * x for x in corner) for corner in CORNERS]
    put("millimetres.dae", dae(unit="0.001", corners=big))
    put("millimetres-moved.dae", dae(unit="0.001", corners=big, node="<translate>500 0 0</translate>"))
    put("z-up.dae", dae(up="Z_UP"))
    put("mirror.dae", dae(node="<scale>1 1 -1</scale>"))

    # What is refused.
    put("empty.glb", b"")
    put("empty.dae", b"")
    put("garbage.glb", bytes(range(256)) * 4)
    put("garbage.gltf", "no JSON")
    put("garbage.dae", "no XML")
    put("cut.glb", glb(plain)[:-60])
    put("header.glb", glb(plain)[:10])
    put("cut.dae", dae()[:900])
    data, tree = gltf(plain, uri="nowhere.bin")
    put("lost.gltf", json.dumps(tree))
    data, tree = gltf(plain, uri="short.bin")
    put("short.gltf", json.dumps(tree))
    put("short.bin", data[:50])
    put("lines.glb", glb(plain, mode=1))
    put("nodes.glb", glb([{"name": "nothing"}]))
    put("faceless.dae", dae(faces=False))
    put("nan.glb", glb(plain, corners=[(float("nan"), 0.0, 0.0)] + CORNERS[1:]))
    put("infinite.glb", glb(plain, corners=[(float("inf"), 0.0, 0.0)] + CORNERS[1:]))
    put("far.glb", glb(plain, triangles=TRIANGLES[:-1] + [(0, 1, 900)]))
    put("unit.dae", dae(unit="nan"))


if __name__ == "__main__":
    main()
