"""What the judge of fields asks of abut, by the Python package of a build, and by its cffi module for what the package lacks.
"""
import pathlib
import sys

import numpy

# Of the package, once a Library has found it.
abut = Error = None


class Library:
    """The Python package of a build, which was set up with -Dpython; one build a process."""

    def __init__(self, build):
        global abut, Error
        sys.path.insert(0, str(pathlib.Path(build).resolve() / "python"))
        import abut as package
        abut, Error = package, package.Error

    def context(self, device="pocl", double=False):
        return Context(device, double)


class Context:
    """Bodies of one device and precision."""

    def __init__(self, device, double):
        self.of = abut.Context(device, precision="f64" if double else "f32")

    def close(self):
        self.of.close()

    def made(self, make):
        """A body with the bytes that it takes on the device."""
        before = self.of.counters["resident"]
        body = make()
        return Body(self, body, self.of.counters["resident"] - before)

    def load(self, path):
        return self.made(lambda: self.of.load(path))

    def cloud(self, vertices, faces):
        """The point cloud that cloud_from_mesh makes, which the package has no word for."""
        from abut._native import check, ffi, lib
        vertices, faces = numpy.ascontiguousarray(vertices, float), numpy.ascontiguousarray(faces, numpy.uint32)
        sizes = numpy.full(len(faces), 3, numpy.uint32)
        definition, handle = ffi.new("abut_body_def *", lib.abut_default_body_def()), ffi.new("abut_body *")
        kept = [ffi.from_buffer("double[]", vertices), ffi.from_buffer("uint32_t[]", sizes), ffi.from_buffer("uint32_t[]", faces)]
        definition.vertices, definition.face_sizes, definition.face_indices = kept
        definition.vertex_count, definition.face_count, definition.cloud_from_mesh = len(vertices), len(faces), True

        def make():
            check(lib.abut_create_body(self.of.handle, definition, handle))
            return abut.Body(self.of, handle[0])
        return self.made(make)

    def create(self, vertices, faces, edges, superquadrics):
        """A body of a contact mesh and superquadrics, as abut.body has their arrays."""
        return self.made(lambda: self.of.body(vertices, faces if len(faces) else None, edges=edges, **superquadrics))


class Body:
    """A body, the bytes that it takes on the device and what abut says of it."""

    def __init__(self, context, body, size):
        from abut._native import check, ffi, lib
        self.context, self.of, self.bytes, self.info = context, body, size, ffi.new("abut_body_info *")
        check(lib.abut_get_body_info(body.handle, self.info))

    def kind(self):
        """What the field is made of."""
        names = ("superquadrics", "polyhedra", "pointclouds", "grids", "height_fields", "cores")
        return "+".join(name for name in names if getattr(self.info, name))

    def mesh(self):
        """Vertices and edges of the contact mesh."""
        return self.of.mesh()

    def distance(self, points):
        """The field at points, with the temperatures that are fitted to this body."""
        fitted = abut.fit_smoothing(self.of, self.of)
        points = numpy.ascontiguousarray(points, self.context.of.dtype)
        return self.of.evaluate(points, union=fitted["union"], plane=fitted["plane"])[0].astype(float)

    def destroy(self):
        self.of.close()


class Pair:
    """Two bodies with the smoothing that is fitted to them."""

    def __init__(self, body1, body2):
        self.context, self.of = body1.context, abut.Pair(body1.of, body2.of)
        self.layout = self.of.layout

    def activity(self, pose1, pose2, most=1 << 26):
        """For each pose the largest activity and how many contacts are above 0.1."""
        chunk = max(1, most // (4 * self.layout.contacts))
        parts = [abut.contacts(self.of, pose1[i:i + chunk], pose2[i:i + chunk], want=("activity",)).activity
                 for i in range(0, len(pose1), chunk)]
        found = numpy.concatenate(parts)
        return found.max(1).astype(float), (found > 0.1).sum(1)

    def everything(self, pose1, pose2):
        """A call that takes p, d, n and activity of all poses, to be called again and again."""
        poses = [numpy.ascontiguousarray(p, self.context.of.dtype) for p in (pose1, pose2)]
        out = abut.contacts(self.of, *poses)
        kept = {name: getattr(out, name) for name in ("p", "d", "n", "activity")}
        return lambda: abut.contacts(self.of, *poses, out=kept)

    def destroy(self):
        self.of.close()
