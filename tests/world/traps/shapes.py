"""Closed meshes of triangles, written as OBJ, and what they weigh. A mesh is (vertices, triangles), in metres."""
import math


def lathe(profile, sides):
    """A closed profile of (radius, z) turned about z. Seen with the radius to the right and z up, it runs
    counterclockwise; points on the axis become one vertex, and so lie next to each other."""
    vertices, rings = [], []
    for radius, z in profile:
        count = sides if radius > 0 else 1
        rings.append([len(vertices) + i % count for i in range(sides)])
        vertices += [(radius * math.cos(2 * math.pi * i / sides), radius * math.sin(2 * math.pi * i / sides), z)
                     for i in range(count)]
    triangles = []
    for below, above in zip(rings, rings[1:] + rings[:1]):
        for i in range(sides):
            k = (i + 1) % sides
            triangles += [t for t in ((below[i], below[k], above[k]), (below[i], above[k], above[i]))
                          if len(set(t)) == 3]
    return vertices, triangles


def torus(large, small, sides, around):
    """About z: `large` is the radius of the circle in its middle."""
    return lathe([(large + small * math.cos(2 * math.pi * i / around), small * math.sin(2 * math.pi * i / around))
                  for i in range(around)], sides)


def terrain(height, half, cells, depth):
    """What lies between z = height(x, y) and z = -depth over a square of half length `half`."""
    count = cells + 1
    at = [half * (2 * i / cells - 1) for i in range(count)]
    vertices = [(x, y, height(x, y)) for y in at for x in at] + [(x, y, -depth) for y in at for x in at]
    triangles, under = [], count * count
    for j in range(cells):
        for i in range(cells):
            a, b, c, d = (j * count + i, j * count + i + 1, (j + 1) * count + i + 1, (j + 1) * count + i)
            triangles += [(a, b, c), (a, c, d), (under + c, under + b, under + a), (under + d, under + c, under + a)]
    rim = ([i for i in range(cells)] + [cells + j * count for j in range(cells)] +
           [count * count - 1 - i for i in range(cells)] + [count * (cells - j) for j in range(cells)])
    for a, b in zip(rim, rim[1:] + rim[:1]):
        triangles += [(under + a, under + b, b), (under + a, b, a)]
    return vertices, triangles


def write_obj(path, mesh):
    vertices, triangles = mesh
    path.write_text("".join(f"v {x:.9g} {y:.9g} {z:.9g}\n" for x, y, z in vertices) +
                    "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in triangles))


def read_obj(path):
    """Faces of any number of corners become triangles."""
    vertices, triangles = [], []
    for line in path.read_text().splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            vertices.append(tuple(map(float, words[1:4])))
        elif words[:1] == ["f"]:
            face = [int(word.split("/")[0]) - 1 for word in words[1:]]
            triangles += [(face[0], face[k], face[k + 1]) for k in range(1, len(face) - 1)]
    return vertices, triangles


# ---- mass: {"mass", "com", "inertia"} as a scene's link has them ----
def of_moments(mass, com, second):
    """`second`: integrals of x x' about the centre of mass, times the density."""
    trace = sum(second[i][i] for i in range(3))
    inertia = [[trace * (i == k) - second[i][k] for k in range(3)] for i in range(3)]
    return {"mass": mass, "com": com, "inertia": inertia}


def weigh(mesh, density):
    """What a closed mesh encloses, by tetrahedra from the origin."""
    vertices, triangles = mesh
    volume, first, second = 0.0, [0.0] * 3, [[0.0] * 3 for _ in range(3)]
    for triangle in triangles:
        a, b, c = (vertices[i] for i in triangle)
        six = (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]))
        total = [x + y + z for x, y, z in zip(a, b, c)]
        volume += six / 6
        for i in range(3):
            first[i] += six / 24 * total[i]
            for k in range(3):
                second[i][k] += six / 120 * (total[i] * total[k] + sum(p[i] * p[k] for p in (a, b, c)))
    com = [x / volume for x in first]
    return of_moments(density * volume, com,
                      [[density * (second[i][k] - volume * com[i] * com[k]) for k in range(3)] for i in range(3)])


def weigh_box(half, density):
    mass = 8 * density * math.prod(half)
    return of_moments(mass, [0, 0, 0], [[mass * half[i] ** 2 / 3 if i == k else 0 for k in range(3)] for i in range(3)])


def weigh_ball(radius, density):
    mass = density * 4 / 3 * math.pi * radius ** 3
    return of_moments(mass, [0, 0, 0], [[mass * radius ** 2 / 5 if i == k else 0 for k in range(3)] for i in range(3)])


def weigh_cylinder(radius, half, density):
    mass = density * math.pi * radius ** 2 * 2 * half
    about = [radius ** 2 / 4, radius ** 2 / 4, half ** 2 / 3]
    return of_moments(mass, [0, 0, 0], [[mass * about[i] if i == k else 0 for k in range(3)] for i in range(3)])


def moved(solid, offset):
    """The same at another place of its link."""
    return {**solid, "com": [c + o for c, o in zip(solid["com"], offset)]}


def together(solids):
    mass = sum(s["mass"] for s in solids)
    com = [sum(s["mass"] * s["com"][i] for s in solids) / mass for i in range(3)]
    inertia = [[0.0] * 3 for _ in range(3)]
    for s in solids:
        off = [c - m for c, m in zip(s["com"], com)]
        square = sum(x * x for x in off)
        for i in range(3):
            for k in range(3):
                inertia[i][k] += s["inertia"][i][k] + s["mass"] * (square * (i == k) - off[i] * off[k])
    return {"mass": mass, "com": com, "inertia": inertia}
