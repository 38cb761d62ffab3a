"""abut by ctypes: as much of it as the judge of fields needs. The structs are those of include/abut.

A struct that has changed there is refused by its cookie, which is its last member; those that abut
fills have no cookie, and room for members that may come.
"""
import ctypes
import pathlib

import numpy

SIZE, U32, REAL = ctypes.c_size_t, ctypes.c_uint32, ctypes.c_double
POINTER, BOOL = ctypes.c_void_p, ctypes.c_bool
QUATERNIONS = 1
ROOM = [("room", ctypes.c_uint8 * 256)]


class Handle(ctypes.Structure):
    _fields_ = [("index", U32), ("generation", U32)]


class ContextDef(ctypes.Structure):
    _fields_ = [("device", U32), ("devices", POINTER), ("device_count", U32),
                ("opencl_queue", POINTER), ("precision", ctypes.c_int), ("lanes", U32),
                ("scratch_bytes", ctypes.c_uint64), ("chunk", U32), ("fallback", ctypes.c_int),
                ("timeout", REAL), ("kernel_directory", ctypes.c_char_p), ("group", U32),
                ("items", U32), ("cookie", U32)]


class Counters(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in
                ("bytes_up", "bytes_down", "launches", "builds", "chunks", "resident")] + ROOM


class Superquadric(ctypes.Structure):
    _fields_ = [("axes", REAL * 3), ("exponents", REAL * 2), ("position", REAL * 3),
                ("quaternion", REAL * 4), ("operation", ctypes.c_int)]


class BodyDef(ctypes.Structure):
    _fields_ = [("vertices", POINTER), ("vertex_count", SIZE), ("face_sizes", POINTER),
                ("face_indices", POINTER), ("face_count", SIZE),
                ("superquadrics", POINTER), ("superquadric_count", SIZE),
                ("polyhedra", POINTER), ("polyhedron_count", SIZE),
                ("pointclouds", POINTER), ("pointcloud_count", SIZE),
                ("grids", POINTER), ("grid_count", SIZE),
                ("height_fields", POINTER), ("height_field_count", SIZE), ("cores", POINTER), ("core_count", SIZE),
                ("edges", POINTER), ("edge_count", SIZE),
                ("cloud_from_mesh", BOOL), ("union", REAL), ("surface", SIZE * 5), ("states_features", BOOL),
                ("feature_vertices", POINTER), ("feature_vertex_count", SIZE),
                ("feature_edges", POINTER), ("feature_edge_count", SIZE),
                ("feature_circles", POINTER), ("feature_circle_count", SIZE),
                ("sharp", REAL), ("cones", ctypes.c_int), ("vertex_cones", POINTER), ("vertex_cone_count", SIZE),
                ("edge_cones", POINTER), ("edge_cone_ends", POINTER), ("edge_cone_count", SIZE), ("cookie", U32)]


class BodyInfo(ctypes.Structure):
    _fields_ = [(name, SIZE) for name in
                ("vertices", "edges", "faces", "superquadrics", "polyhedra", "planes",
                 "pointclouds", "points", "grids", "blocks", "height_fields", "heights", "cores", "primitives")]
    _fields_ += [("lower", REAL * 3), ("upper", REAL * 3), ("diagonal", REAL),
                 ("suspicions", U32), ("thickness", REAL), ("union", REAL)] + ROOM


class Smoothing(ctypes.Structure):
    _fields_ = [(name, REAL) for name in
                ("length", "union", "plane", "normal", "penetration", "neighbour", "clash", "sign",
                 "sort", "clip", "minimum", "compare", "ridge", "distance")]
    _fields_ += [("trace", U32), ("inside", BOOL), ("select", ctypes.c_int), ("edge_edge", BOOL),
                 ("two_sided", BOOL), ("floor", REAL),
                 ("edges", U32 * 2), ("vertices", U32 * 2), ("edge_contacts", ctypes.c_int),
                 ("tilt", REAL), ("inset", REAL), ("part", REAL), ("gain", REAL), ("slope", REAL),
                 ("samples", U32), ("cone_inner", REAL), ("cone_outer", REAL), ("cone_hold", REAL), ("cone_inset", REAL),
                 ("cookie", U32)]


class Layout(ctypes.Structure):
    _fields_ = [("contacts", SIZE), ("vertices", SIZE * 2), ("edges", SIZE * 2),
                ("vertex_offset", SIZE * 2), ("edge_offset", SIZE * 2)] + ROOM


class Reductions(ctypes.Structure):
    _fields_ = [(name, POINTER) for name in
                ("mean_distance", "activity", "energy", "minimum_distance", "soft_minimum")]


class Batch(ctypes.Structure):
    _fields_ = [("count", SIZE), ("memory", ctypes.c_int), ("poses", ctypes.c_int),
                ("pose1", POINTER), ("pose2", POINTER), ("p", POINTER), ("d", POINTER),
                ("n", POINTER), ("activity", POINTER), ("pairs", POINTER), ("pair_count", SIZE),
                ("pair", POINTER), ("derivatives", POINTER), ("contacts", POINTER),
                ("status", POINTER), ("rejected", SIZE), ("failures", SIZE), ("compact", POINTER),
                ("reductions", Reductions), ("progress", POINTER), ("user", POINTER),
                ("cookie", U32)]


class Error(RuntimeError):
    """What abut refuses, by its own words; `status` is its code."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def address(array):
    return array.ctypes.data if array is not None else None


class Library:
    """The shared library of a build."""

    def __init__(self, build):
        self.lib = ctypes.CDLL(str(pathlib.Path(build) / "src" / "libabut.so"))
        for name, result in (("default_context_def", ContextDef), ("default_body_def", BodyDef),
                             ("default_batch", Batch), ("last_error", ctypes.c_char_p)):
            getattr(self.lib, f"abut_{name}").restype = result

    def call(self, name, *arguments):
        status = getattr(self.lib, f"abut_{name}")(*arguments)
        if status:
            raise Error(status, self.lib.abut_last_error().decode())

    def context(self, device="pocl", double=False):
        return Context(self, device, double)


class Context:
    """Bodies of one device and precision."""

    def __init__(self, library, device, double):
        self.library, self.handle = library, Handle()
        self.real = numpy.float64 if double else numpy.float32
        definition = library.lib.abut_default_context_def()
        index = U32()
        library.call("find_device", device.encode(), ctypes.byref(index))
        definition.device, definition.precision = index.value, int(double)
        library.call("create_context", ctypes.byref(definition), ctypes.byref(self.handle))

    def close(self):
        self.library.call("destroy_context", self.handle)

    def resident(self):
        """Bytes on the device."""
        counters = Counters()
        self.library.call("get_counters", self.handle, ctypes.byref(counters))
        return counters.resident

    def load(self, path):
        """A body of a file, as abut_load_body makes it."""
        before, body = self.resident(), Handle()
        self.library.call("load_body", self.handle, str(path).encode(), ctypes.byref(body))
        return Body(self, body, self.resident() - before)

    def cloud(self, vertices, faces):
        """The point cloud that cloud_from_mesh makes."""
        return self.create(vertices, faces, cloud_from_mesh=True)

    def create(self, vertices, faces, edges=None, superquadrics=(), cloud_from_mesh=False):
        vertices = numpy.ascontiguousarray(vertices, float)
        faces = numpy.ascontiguousarray(faces, numpy.uint32)
        sizes = numpy.full(len(faces), 3, numpy.uint32)
        edges = None if edges is None else numpy.ascontiguousarray(edges, numpy.uint32)
        quadrics = (Superquadric * len(superquadrics))(*superquadrics)
        d = self.library.lib.abut_default_body_def()
        d.vertices, d.vertex_count = address(vertices), len(vertices)
        d.face_sizes, d.face_indices, d.face_count = address(sizes), address(faces), len(faces)
        if edges is not None:
            d.edges, d.edge_count = address(edges), len(edges)
        if superquadrics:
            d.superquadrics, d.superquadric_count = ctypes.addressof(quadrics), len(quadrics)
        d.cloud_from_mesh = cloud_from_mesh
        before, body = self.resident(), Handle()
        self.library.call("create_body", self.handle, ctypes.byref(d), ctypes.byref(body))
        return Body(self, body, self.resident() - before)


class Body:
    """A body, the bytes that it takes on the device and what abut says of it."""

    def __init__(self, context, handle, size):
        self.context, self.handle, self.bytes = context, handle, size
        self.info = BodyInfo()
        context.library.call("get_body_info", handle, ctypes.byref(self.info))

    def kind(self):
        """What the field is made of."""
        names = [n for n in ("superquadrics", "polyhedra", "pointclouds", "grids", "height_fields", "cores")
                 if getattr(self.info, n)]
        return "+".join(names)

    def mesh(self):
        """Vertices and edges of the contact mesh."""
        vertices = numpy.empty((self.info.vertices, 3))
        edges = numpy.empty((self.info.edges, 2), numpy.uint32)
        self.context.library.call("get_body_mesh", self.handle, POINTER(address(vertices)),
                                  POINTER(address(edges)))
        return vertices, edges

    def distance(self, points):
        """The field at points, with the temperatures that are fitted to this body."""
        real = self.context.real
        points = numpy.ascontiguousarray(points, real)
        out = numpy.empty(len(points), real)
        fitted = self.smoothing(self)
        self.context.library.call("evaluate_body", self.handle, REAL(fitted.union),
                                  REAL(fitted.plane), SIZE(len(points)), POINTER(address(points)),
                                  POINTER(address(out)), None)
        return out.astype(float)

    def smoothing(self, other):
        out = Smoothing()
        self.context.library.call("fit_smoothing", self.handle, other.handle, ctypes.byref(out))
        return out

    def destroy(self):
        self.context.library.call("destroy_body", self.handle)


class Pair:
    """Two bodies with the smoothing that is fitted to them."""

    def __init__(self, body1, body2):
        self.context, self.handle, self.layout = body1.context, Handle(), Layout()
        self.smoothing = body1.smoothing(body2)
        call = self.context.library.call
        call("create_pair", body1.handle, body2.handle, ctypes.byref(self.smoothing),
             ctypes.byref(self.handle))
        call("get_layout", self.handle, ctypes.byref(self.layout))

    def batch(self, pose1, pose2):
        """A batch of poses (N, 7), which has to outlive it, and its poses in the context's reals."""
        given = [numpy.ascontiguousarray(p, self.context.real) for p in (pose1, pose2)]
        batch = self.context.library.lib.abut_default_batch()
        batch.count, batch.poses = len(given[0]), QUATERNIONS
        batch.pose1, batch.pose2 = (address(p) for p in given)
        return batch, given

    def activity(self, pose1, pose2, most=1 << 26):
        """For each pose the largest activity and how many contacts are above 0.1."""
        chunk = max(1, most // (4 * self.layout.contacts))
        largest, count = [], []
        for i in range(0, len(pose1), chunk):
            batch, given = self.batch(pose1[i:i + chunk], pose2[i:i + chunk])
            out = numpy.empty((len(given[0]), self.layout.contacts), self.context.real)
            batch.activity = address(out)
            self.context.library.call("contacts", self.handle, ctypes.byref(batch))
            largest.append(out.max(1))
            count.append((out > 0.1).sum(1))
        return numpy.concatenate(largest).astype(float), numpy.concatenate(count)

    def everything(self, pose1, pose2):
        """A call that takes p, d, n and activity of all poses, to be called again and again."""
        batch, given = self.batch(pose1, pose2)
        shape = (len(given[0]), self.layout.contacts)
        out = [numpy.zeros(shape if name in "d activity" else (*shape, 3), self.context.real)
               for name in ("p", "d", "n", "activity")]
        batch.p, batch.d, batch.n, batch.activity = (address(a) for a in out)
        keep = (batch, given, out)
        return lambda: self.context.library.call("contacts", self.handle, ctypes.byref(keep[0]))

    def destroy(self):
        self.context.library.call("destroy_pair", self.handle)
