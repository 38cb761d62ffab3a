"""What subtraction gains `abut decompose`, and what convex polyhedra would: an experiment, of which the library has the subtraction.

    python3 bench/decompose_families.py --command ABUT MESHES [--only NAME ...] [--write FILE]
    python3 bench/decompose_families.py PROTOTYPE MESHES [--only NAME ...] [--variants VARIANT ...] [--write FILE]
    python3 bench/decompose_families.py --table FILE ...

The first compares `--family sq` with `--family auto` of the command ABUT, and needs trimesh, and manifold3d for the parts that are made here. The
second is the prototype:

PROTOTYPE is the NumPy prototype that `abut decompose` was made after (decompose_reference.py), MESHES a folder with the meshes named in CASES. Neither
is installed with abut, so that this repeats the trials of docs/dev/decompose.md only where both are. Samples, moves and tolerances are
the prototype's, but for fewer rounds and candidates, and fewer samples for the end, so that a row takes seconds to minutes of one core. Fields and
normal equations are in C below, by the C compiler `cc`, since NumPy takes thirty times as long. Needs numpy, scipy, scikit-image, trimesh and libigl,
and manifold3d for the parts that are made here. Lengths are shares of the mesh's diagonal.

Variants, all with the same number of primitives and the same union:
- add: superquadrics that all add, from twice as many clusters, as a yardstick; up to 8 also from three times as many, as the library does.
- subtract: any of them may be taken away, phi = LSE(phi+, -phi-) as abut's body files have it. It begins with clusters of the mesh with its pockets
  filled, and with an ellipsoid of each pocket that is taken away; up to 8 also from twice as many clusters that all add. Moves: those of `add`, and
  taking away an ellipsoid for each component of cells outside that the body covers.
- sharp: `add` with exponents down to 0.02 in place of 0.1.
- polyhedra: `add`, and at the end of each round every superquadric that a polyhedron of 6 or 10 planes betters, is replaced by that. Its field is
  LSE_PLANE of its planes.
"""
import argparse
import ctypes
import importlib.util
import json
import pathlib
import subprocess
import tempfile
import time

import numpy as np
from scipy import ndimage
from scipy.linalg import LinAlgError, cho_factor, cho_solve

UNION, PLANE = .008, .001  # temperatures of the union and of a polyhedron's planes
MOST_PLANES = 10
ADD, SUBTRACT = 1, -1
SUPERQUADRIC, POLYHEDRON = 0, 1
CANDIDATES = 8  # of each kind of move; the prototype's are 12
FAR = 1e3  # the field of no primitive at all

# name: (file of MESHES, or None for a part that is made here; primitives; union)
CASES = {
    "plate with holes": ("plate_holes.STL", 24, .004), "three holes": ("3holes.off", 24, UNION), "nut": ("nut_m16.obj", 12, UNION),
    "feature part": ("featuretype.STL", 24, .004), "flange": (None, 12, .004), "mug": (None, 8, .004), "block with bores": (None, 8, .004),
    "pipe": (None, 8, .004), "bolt": ("bolt_m16.obj", 8, UNION), "screwdriver": ("ycb_flat_screwdriver.obj", 12, UNION),
    "armadillo": ("armadillo.obj", 18, UNION), "spot": ("spot.obj", 22, UNION), "drill": ("ycb_power_drill.obj", 17, UNION),
    "box": (None, 1, .004), "bracket": (None, 3, .004), "stairs": (None, 4, .004), "hexagonal prism": (None, 2, .004), "wedge": (None, 2, .004),
}

SOURCE = r"""
#include <math.h>
typedef struct { const double *a, *e, *t, *R, *n, *c; const int *kind, *planes; double plane; int most; } primitives;

static inline double log_add(double x, double y) { return fmax(x, y) + log(1 + exp(-fabs(x - y))); }

/* A superquadric's field at x, and its derivatives by log axes, exponents, translation and turn in its axes where J is given. */
static inline double superquadric(const double *restrict a, const double *restrict e, const double *restrict t, const double *restrict R,
                                  const double *restrict x, double *restrict J)
{
    double y[3], s[3], q[3];
    for (int i = 0; i < 3; i++) {
        y[i] = (x[0] - t[0]) * R[i] + (x[1] - t[1]) * R[3 + i] + (x[2] - t[2]) * R[6 + i];
        s[i] = y[i] * y[i] / (a[i] * a[i]), q[i] = s[i] + 1e-12;
    }
    double Lx = log(q[0]) / e[1], Ly = log(q[1]) / e[1], C = log(q[2]) / e[0], A = log_add(Lx, Ly), B = A * e[1] / e[0], F = log_add(B, C);
    double r = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2] + 1e-12 * (a[0] * a[0] + a[1] * a[1] + a[2] * a[2])), ih = exp(fmin(-e[0] / 2 * F, 60));
    if (J) {
        double alpha = exp(Lx - A), beta = exp(B - F), am = exp(Ly - A), bm = exp(C - F), g = r * ih, m[3] = {beta * alpha, beta * am, bm}, gy[3];
        for (int i = 0; i < 3; i++) {
            gy[i] = (1 - ih) / r * y[i] + g * m[i] * y[i] / (a[i] * a[i] * q[i]);
            J[i] = -g * m[i] * s[i] / q[i], J[5 + i] = -gy[i];
        }
        J[3] = g * (F - beta * B - bm * C) / 2, J[4] = g * beta * (A - alpha * Lx - am * Ly) / 2;
        J[8] = gy[1] * y[2] - gy[2] * y[1], J[9] = gy[2] * y[0] - gy[0] * y[2], J[10] = gy[0] * y[1] - gy[1] * y[0];
    }
    return r * (1 - ih);
}

/* A polyhedron's field, and its derivatives by each plane's offset and by its normal along the two tangents that `tangents` in Python gives. */
static inline double polyhedron(int planes, const double *n, const double *c, const double *t, double tau, const double *x, const double *T, double *J)
{
    double y[3] = {x[0] - t[0], x[1] - t[1], x[2] - t[2]}, d[64], most = -1e30, sum = 0;
    for (int i = 0; i < planes; i++) {
        d[i] = n[3 * i] * y[0] + n[3 * i + 1] * y[1] + n[3 * i + 2] * y[2] - c[i];
        if (d[i] > most) most = d[i];
    }
    for (int i = 0; i < planes; i++) sum += d[i] - most < -30 * tau ? 0 : exp((d[i] - most) / tau);
    for (int i = 0; J && i < planes; i++) {
        double w = d[i] - most < -30 * tau ? 0 : exp((d[i] - most) / tau) / sum;
        J[3 * i] = -w;
        for (int k = 0; k < 2; k++) J[3 * i + 1 + k] = w * (T[6 * i + 3 * k] * y[0] + T[6 * i + 3 * k + 1] * y[1] + T[6 * i + 3 * k + 2] * y[2]);
    }
    return most + tau * log(sum);
}

/* out (M): the field of primitive l at X (3, M), in float32, whose exp and log come 16 at a time */
void field(const primitives *P, int l, int M, const float *restrict X, float *restrict out)
{
    int n = P->most;
    if (P->kind[l]) {
        for (int i = 0; i < M; i++) {
            double x[3] = {X[i], X[M + i], X[2 * M + i]};
            out[i] = (float) polyhedron(P->planes[l], P->n + 3 * n * l, P->c + n * l, P->t + 3 * l, P->plane, x, 0, 0);
        }
        return;
    }
    float a[3], R[9], t[3], e1 = (float) P->e[2 * l], e2 = (float) P->e[2 * l + 1];
    for (int k = 0; k < 9; k++) R[k] = (float) P->R[9 * l + k];
    for (int k = 0; k < 3; k++) a[k] = (float) (1 / P->a[3 * l + k]), t[k] = (float) P->t[3 * l + k];
    float least = 1e-12f * (1 / (a[0] * a[0]) + 1 / (a[1] * a[1]) + 1 / (a[2] * a[2]));
    for (int i = 0; i < M; i++) {
        float d0 = X[i] - t[0], d1 = X[M + i] - t[1], d2 = X[2 * M + i] - t[2];
        float y0 = d0 * R[0] + d1 * R[3] + d2 * R[6], y1 = d0 * R[1] + d1 * R[4] + d2 * R[7], y2 = d0 * R[2] + d1 * R[5] + d2 * R[8];
        float s0 = y0 * a[0], s1 = y1 * a[1], s2 = y2 * a[2];
        float x = logf(s0 * s0 + 1e-12f) / e2, y = logf(s1 * s1 + 1e-12f) / e2, z = logf(s2 * s2 + 1e-12f) / e1;
        float b = (fmaxf(x, y) + logf(1 + expf(-fabsf(x - y)))) * e2 / e1, f = fmaxf(b, z) + logf(1 + expf(-fabsf(b - z)));
        out[i] = sqrtf(y0 * y0 + y1 * y1 + y2 * y2 + least) * (1 - expf(fminf(-e1 / 2 * f, 60)));
    }
}

/* A (N, N) += J'J and g (N) += J'r of rows sum_l W[l, i] d phi_l; W (K, M) is 0 where a primitive does not count; first (K + 1): its first parameter. */
void normal_equations(const primitives *P, int K, int M, const double *X, const double *T, const double *W, const double *r, const int *first,
                      double *A, double *g)
{
    int N = first[K], n = P->most, on[256];
    double J[256][32];
    for (int i = 0; i < M; i++) {
        int count = 0;
        for (int l = 0; l < K && count < 256; l++) {
            double w = W[(long)l * M + i];
            if (w == 0) continue;
            if (P->kind[l]) polyhedron(P->planes[l], P->n + 3 * n * l, P->c + n * l, P->t + 3 * l, P->plane, X + 3 * i, T + 6 * n * l, J[count]);
            else superquadric(P->a + 3 * l, P->e + 2 * l, P->t + 3 * l, P->R + 9 * l, X + 3 * i, J[count]);
            for (int k = 0; k < first[l + 1] - first[l]; k++) J[count][k] *= w, g[first[l] + k] += J[count][k] * r[i];
            on[count++] = l;
        }
        for (int p = 0; p < count; p++)
            for (int q = 0; q <= p; q++)
                for (int j = 0; j < first[on[p] + 1] - first[on[p]]; j++) {
                    double *row = A + (long)(first[on[p]] + j) * N + first[on[q]], factor = J[p][j];
                    for (int k = 0; k < first[on[q] + 1] - first[on[q]]; k++) row[k] += factor * J[q][k];
                }
    }
}
"""


def compile_source():
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "fields.c").write_text(SOURCE)
    subprocess.run(["cc", "-O3", "-march=native", "-ffast-math", "-shared", "-fPIC", "-o", folder / "fields.so", folder / "fields.c", "-lm"], check=True)
    return ctypes.CDLL(str(folder / "fields.so"))


class CPrimitives(ctypes.Structure):
    _fields_ = [(k, ctypes.c_void_p) for k in ("a", "e", "t", "R", "n", "c", "kind", "planes")] + [("plane", ctypes.c_double), ("most", ctypes.c_int)]


def pointer(x):
    return x.ctypes.data_as(ctypes.c_void_p)


# ---- primitives: dict of arrays over K, as in the prototype, with operation, kind and planes beside axes, exponents, place and turn ----
def primitives(P, operation=ADD):
    """What the prototype's ellipsoids lack: an operation and room for planes."""
    K = len(P["a"])
    return dict(P, operation=np.full(K, operation, np.int32), kind=np.full(K, SUPERQUADRIC, np.int32), planes=np.zeros(K, np.int32),
                n=np.zeros((K, MOST_PLANES, 3)), c=np.zeros((K, MOST_PLANES)))


def pick(P, index):
    return {k: P[k][index] for k in P}


def join(*Ps):
    return {k: np.concatenate([p[k] for p in Ps]) for k in Ps[0]}


def c_primitives(P):
    keep = {k: np.ascontiguousarray(P[k]) for k in ("a", "e", "t", "R", "n", "c", "kind", "planes")}
    return CPrimitives(**{k: keep[k].ctypes.data for k in keep}, plane=PLANE, most=MOST_PLANES), keep


def fields(P, X):
    out, X = np.empty((len(P["a"]), len(X)), np.float32), np.ascontiguousarray(X.T, np.float32)
    c, keep = c_primitives(P)
    for l in range(len(out)):
        C.field(ctypes.byref(c), l, X.shape[1], pointer(X), pointer(out[l]))
    return out


def soft_min(PH, tau):
    if not len(PH):
        return np.full(PH.shape[1], FAR, np.float32)
    m = PH.min(0)
    return m - tau * np.log(np.exp((m - PH) / tau).sum(0))


def halves(PH, operation, tau, frozen=None):
    """phi+ and phi- (2, M); frozen (2, M) are those of primitives that are not fitted."""
    two = []
    for k, o in enumerate((ADD, SUBTRACT)):
        rows = PH[operation == o]
        two.append(soft_min(rows if frozen is None else np.vstack([rows, frozen[k:k + 1]]), tau))
    return np.stack(two)


def combined(two, tau):
    """LSE(phi+, -phi-): the body's field."""
    return -soft_min(np.stack([-two[0], two[1]]), tau)


def value(P, X, tau):
    return np.concatenate([combined(halves(fields(P, x), P["operation"], tau), tau) for x in np.array_split(X, len(X) // 20000 + 1)])


def first_parameters(P):
    return np.concatenate([[0], np.cumsum(np.where(P["kind"] == POLYHEDRON, 3 * P["planes"], 11))]).astype(np.int32)


def tangents(P):
    """Two unit vectors across each plane's normal, (K, MOST_PLANES, 2, 3)."""
    n = P["n"]
    helper = np.where(abs(n[..., :1]) < .6, [1., 0, 0], [0, 1., 0])
    u = np.cross(n, helper)
    u /= np.maximum(np.linalg.norm(u, axis=-1, keepdims=True), 1e-12)
    return np.ascontiguousarray(np.stack([u, np.cross(n, u)], 2))


def normal_equations(P, S, tau, s, frozen=None):
    PH = fields(P, S["X"])
    two = halves(PH, P["operation"], tau, frozen)
    phi = combined(two, tau)
    r, slope = R.residual(S, phi, s), np.sqrt(S["v"]) * (1 - np.tanh(phi / s) ** 2) / s
    W = np.empty(PH.shape)
    for l, o in enumerate(P["operation"]):
        # d phi/d phi_l: the softmax of (phi+, -phi-) times that within the half; minus for what is taken away, since -phi- enters
        half = two[0] if o == ADD else two[1]
        outer = np.exp((o * half - phi) / tau)
        W[l] = o * outer * np.exp((half - PH[l]) / tau) * slope
    W[abs(W) * s < 1e-4 * np.sqrt(S["v"])] = 0
    first = first_parameters(P)
    N = int(first[-1])
    A, g, T, X = np.zeros((N, N)), np.zeros(N), tangents(P), np.ascontiguousarray(S["X"])
    c, keep = c_primitives(P)
    C.normal_equations(ctypes.byref(c), len(W), len(r), pointer(X), pointer(T), pointer(W), pointer(r), pointer(first), pointer(A), pointer(g))
    return np.tril(A) + np.tril(A, -1).T, g, r @ r


def loss(P, S, tau, s, frozen=None):
    return (R.residual(S, combined(halves(fields(P, S["X"]), P["operation"], tau, frozen), tau), s) ** 2).sum()


def moved(P, d):
    P = {k: x.copy() for k, x in P.items()}
    first, T = first_parameters(P), tangents(P)
    for l, kind in enumerate(P["kind"]):
        x = d[first[l]:first[l + 1]]
        if kind == POLYHEDRON:
            m, x = P["planes"][l], x.reshape(-1, 3)
            P["c"][l, :m] += np.clip(x[:, 0], -.05, .05)
            n = P["n"][l, :m] + np.einsum("mk,mki->mi", np.clip(x[:, 1:], -.3, .3), T[l, :m])
            P["n"][l, :m] = n / np.linalg.norm(n, axis=1, keepdims=True)
        else:
            P["a"][l] *= np.exp(np.clip(x[:3], -.5, .5))
            P["e"][l] += np.clip(x[3:5], -.4, .4)
            P["t"][l] += P["R"][l] @ x[5:8]
            P["R"][l] = P["R"][l] @ R.expm(x[8:])
    return R.clamp(P)


def bounded(P):
    """Parameters, and their bounds, as far as they have some."""
    x, low, high = [], [], []
    for l, kind in enumerate(P["kind"]):
        if kind == POLYHEDRON:
            n = 3 * P["planes"][l]
            x.append(np.zeros(n)), low.append(np.full(n, -np.inf)), high.append(np.full(n, np.inf))
        else:
            x.append(np.r_[np.log(P["a"][l]), P["e"][l], np.zeros(6)])
            low.append(np.r_[[np.log(R.A_LOW)] * 3, [R.E_LOW] * 2, [-np.inf] * 6])
            high.append(np.r_[[np.log(R.A_HIGH)] * 3, [R.E_HIGH] * 2, [np.inf] * 6])
    return np.concatenate(x), np.concatenate(low), np.concatenate(high)


def levenberg_marquardt(P, S, tau, s, steps, tolerance=1e-3, frozen=None):
    """The prototype's, for any mixture of primitives."""
    damping, L = 1e-2, loss(P, S, tau, s, frozen)
    for _ in range(steps):
        A, g, L = normal_equations(P, S, tau, s, frozen)
        x, low, high = bounded(P)
        free = np.where(~((x <= low + 1e-6) & (g > 0)) & ~((x >= high - 1e-6) & (g < 0)) & (A.diagonal() > 0))[0]
        if not len(free):
            break
        A, better = A[np.ix_(free, free)], False
        D = A.diagonal().copy()
        for _ in range(6):
            d = np.zeros(len(x))
            try:
                d[free] = -cho_solve(cho_factor(A + np.diag(damping * D + 1e-9 * D.max()), lower=True), g[free])
            except LinAlgError:
                damping *= 5
                continue
            trial = moved(P, d)
            trial_loss = loss(trial, S, tau, s, frozen)
            if trial_loss < L:
                damping, better = max(.3 * damping, 1e-4), True
                break
            damping *= 5
        if not better:
            break
        P, fell, L = trial, L - trial_loss, trial_loss
        if fell < tolerance * (L + fell):
            break
    return P, L


# ---- the search ----
class Search:
    def __init__(self, V, F, tau, coarse):
        self.V, self.F, self.tau, self.families = V, F, tau, ()
        self.search, self.final = R.samples(V, F, coarse / 64, .008), R.samples(V, F, coarse / 128, 0)
        low, high = V.min(0), V.max(0)
        self.h = (high - low).max() / 64
        n = np.ceil((high - low) / self.h).astype(int) + 2
        self.grid = np.stack(np.meshgrid(*[low[k] + (np.arange(n[k]) - .5) * self.h for k in range(3)], indexing="ij"), -1)
        self.solid = R.inside(V, F, self.grid.reshape(-1, 3)).reshape(n)

    def pockets(self):
        """Cells outside from which at least four of thirteen lines through their neighbours meet the mesh both ways, as in a bore."""
        solid, blocked = self.solid, np.zeros(self.solid.shape, int)
        lines = [d for d in np.ndindex(3, 3, 3) if d > (1, 1, 1)]
        for d in np.array(lines) - 1:
            seen = []
            for sign in (1, -1):
                hit, step = solid.copy(), tuple(sign * d)
                for _ in range(max(solid.shape)):
                    grown = hit | (ndimage.shift(hit.view(np.uint8), step, order=0) > 0)
                    if (grown == hit).all():
                        break
                    hit = grown
                seen.append(hit)
            blocked += seen[0] & seen[1]
        return (blocked >= 4) & ~solid

    def ellipsoids(self, mask, operation, least=4, most=CANDIDATES):
        """The ellipsoid of the moments of each component of cells, the largest first."""
        label, _ = ndimage.label(mask)
        size, found = np.bincount(label.ravel()), []
        size[0] = 0
        for c in np.argsort(-size)[:most]:
            if size[c] < least:
                break
            X = self.grid[label == c]
            found.append(R.clamp(primitives(R.ellipsoid(X + np.random.default_rng(1).uniform(-.5, .5, X.shape) * self.h), operation)))
        return found

    def clusters(self, cells, K):
        """The prototype's start, of these cells."""
        return primitives(R.Decomposition.start(argparse.Namespace(X=self.grid[cells], seed=0), K))

    def near(self, P, scale, pad):
        near = np.zeros(len(self.search["X"]), bool)
        for l in range(len(P["a"])):
            near |= (abs((self.search["X"] - P["t"][l]) @ P["R"][l]) < scale * P["a"][l] + pad).all(1)
        return near

    def state(self, P, s):
        PH = fields(P, self.search["X"])
        two = halves(PH, P["operation"], self.tau)
        return PH, two, R.residual(self.search, combined(two, self.tau), s) ** 2

    def local(self, P, new, gone, s, PH, base):
        """`new` in place of the primitives `gone`, the rest frozen: the fitted `new`, and the change of the loss."""
        keep = np.setdiff1d(np.arange(len(P["a"])), gone)
        near = self.near(new, 1.25, .03)
        if len(gone):
            near |= self.near(pick(P, gone), 1.1, .015)
        i = np.where(near)[0]
        if not len(i):
            return new, 0.
        frozen = halves(PH[keep][:, i], P["operation"][keep], self.tau)
        new, L = levenberg_marquardt(new, R.take(self.search, i), self.tau, s, 6, 3e-3, frozen)
        return new, L - base[i].sum()

    def up(self, P, s, most):
        PH, two, base = self.state(P, s)
        K, found, added = len(P["a"]), [], P["operation"] == ADD
        nearest = np.where(added[:, None], PH, FAR).argmin(0)
        if not added.all():
            nearest = np.where(-two[1] > two[0], np.where(added[:, None], FAR, PH).argmin(0), nearest)
        share = np.bincount(nearest, base, K)
        for l in np.argsort(-share)[:CANDIDATES]:
            for k in range(3):
                if P["kind"][l] == POLYHEDRON or P["a"][l, k] < .012:
                    continue
                pair = {q: x.copy() for q, x in pick(P, [l, l]).items()}
                d = P["R"][l][:, k] * P["a"][l, k] / 2
                pair["t"][0] -= d
                pair["t"][1] += d
                pair["a"][:, k] *= .55
                found.append((pair, [l]))
        phi = value(P, self.grid.reshape(-1, 3), self.tau).reshape(self.solid.shape)
        found += [(e, []) for e in self.ellipsoids(self.solid & (phi > 0), ADD)]
        if "subtract" in self.families:
            found += [(e, []) for e in self.ellipsoids(~self.solid & (phi < 0), SUBTRACT)]
        new, gone = [], []
        for N, gain, g in sorted(((*self.local(P, N, g, s, PH, base), g) for N, g in found), key=lambda f: f[1]):
            if len(new) >= most or gain >= 0:
                break
            if g and g[0] in gone:
                continue
            if not g and any(len(q["a"]) == 1 and np.linalg.norm(N["t"] - q["t"]) < max(N["a"].max(), q["a"].max()) for q in new):
                continue
            gone += g
            new.append(N)
        return join(pick(P, np.setdiff1d(np.arange(K), gone)), *new), len(new)

    def mergers(self, P, PH, cost):
        """Pairs of one operation that touch, those first of which one is cheap."""
        pairs = []
        for o in (ADD, SUBTRACT):
            of = np.where((P["operation"] == o) & (P["kind"] == SUPERQUADRIC))[0]
            if len(of) < 2:
                continue
            order = np.argsort(PH[of], 0)[:2]
            close = PH[of][order[1], np.arange(PH.shape[1])] < .01
            a, b = np.sort(of[order[:, close]], 0)
            count = np.bincount(a * len(P["a"]) + b, minlength=len(P["a"]) ** 2).reshape(len(P["a"]), -1)
            pairs += [(p, q) for p, q in zip(*np.where(count > 3))]
        return sorted(pairs, key=lambda p: min(cost[p[0]], cost[p[1]]))[:CANDIDATES]

    def down(self, P, s, K):
        while len(P["a"]) > K:
            n, rng = len(P["a"]), np.random.default_rng(5)
            PH, _, base = self.state(P, s)
            cost = np.empty(n)
            for l in range(n):
                phi = combined(halves(np.delete(PH, l, 0), np.delete(P["operation"], l), self.tau), self.tau)
                cost[l] = (R.residual(self.search, phi, s) ** 2).sum() - base.sum()
            cost[(P["operation"] == ADD) & ((P["operation"] == ADD).sum() == 1)] = np.inf  # one has to add
            best, volume = (cost.min(), None, [int(cost.argmin())]), R.volume(P)
            for a, b in self.mergers(P, PH, cost):
                X = []
                for q in (a, b):
                    u = rng.normal(size=(200, 3))
                    u *= (rng.random(200) ** (1 / 3) / np.linalg.norm(u, axis=1))[:, None]
                    X.append((u * P["a"][q]) @ P["R"][q].T + P["t"][q])
                merged = primitives(R.ellipsoid(np.vstack(X), np.repeat(volume[[a, b]], 200)), P["operation"][a])
                N, change = self.local(P, merged, [a, b], s, PH, base)
                if change < best[0]:
                    best = (change, N, [a, b])
            P = pick(P, np.setdiff1d(np.arange(n), best[2]))
            P = P if best[1] is None else join(P, best[1])
            if len(P["a"]) > K:
                P, _ = levenberg_marquardt(P, self.search, self.tau, s, 3)
        return P

    def polyhedra_of(self, P, l, nearest, points, normals):
        """Polyhedra in place of superquadric l: its box of 6 planes with its volume, and 4 more after the mesh's normals beside it."""
        a, turn, t = P["a"][l], P["R"][l], P["t"][l]
        shrink = (R.volume(pick(P, [l]))[0] / (8 * a.prod())) ** (1 / 3)
        n = np.concatenate([turn.T, -turn.T])
        c = np.tile(a * shrink, 2)
        beside = nearest == l
        y, m = points[beside] - t, normals[beside]
        yield n, c
        if len(y) < 20:
            return
        for _ in range(MOST_PLANES - 6):
            n = np.vstack([n, m[(m @ n.T).max(1).argmin()]])
        c = np.r_[c, (y @ n[6:].T).max(0) * .9]
        for _ in range(5):
            of = (m @ n.T).argmax(1)
            for k in range(len(n)):
                if (of == k).sum() > 4:
                    mean = m[of == k].mean(0)
                    n[k] = mean / np.linalg.norm(mean)
                    c[k] = np.median(y[of == k] @ n[k])
        yield n, c

    def convert(self, P, s):
        """Every superquadric that a polyhedron in its place betters, becomes one."""
        T = self.V[self.F]
        cross = np.cross(T[:, 1] - T[:, 0], T[:, 2] - T[:, 0])
        area = np.linalg.norm(cross, axis=1)
        i = np.random.default_rng(1).choice(len(T), 8000, p=area / area.sum())
        u = np.random.default_rng(2).dirichlet([1, 1, 1], 8000)
        points, normals = np.einsum("nk,nki->ni", u, T[i]), cross[i] / area[i, None]
        on = fields(P, points)
        nearest = np.where(on.min(0) < .02, on.argmin(0), -1)
        for l in range(len(P["a"])):
            if P["kind"][l] == POLYHEDRON:
                continue
            PH, _, base = self.state(P, s)
            best = (0., None)
            for n, c in self.polyhedra_of(P, l, nearest, points, normals):
                N = {k: x.copy() for k, x in pick(P, [l]).items()}
                N["kind"][:], N["planes"][:], N["n"][0, :len(n)], N["c"][0, :len(n)] = POLYHEDRON, len(n), n, c
                N, change = self.local(P, N, [l], s, PH, base)
                if change < best[0] - 1e-3 * base.sum():
                    best = (change, N)
            if best[1] is not None:
                for k in P:
                    P[k][l] = best[1][k][0]
        return P

    def starts(self, K):
        """One of more than 8 primitives, as in the library, else two."""
        if "subtract" in self.families:
            pockets = self.pockets()
            yield join(self.clusters(self.solid | pockets, K), *self.ellipsoids(pockets, SUBTRACT, most=K))
        else:
            yield self.clusters(self.solid, 2 * K)
        if K <= 8:
            yield self.clusters(self.solid, (2 if "subtract" in self.families else 3) * K)

    def run(self, K, rounds, s=.01):
        """The body, and its loss on the final samples: of the start that is better before the rounds."""
        best = None
        for P in self.starts(K):
            for q in (.03, .015, s):
                P, L = levenberg_marquardt(P, self.search, self.tau, q, 8)
            while len(P["a"]) < K:
                P, n = self.up(P, s, K - len(P["a"]))
                if not n:
                    break
                P, L = levenberg_marquardt(P, self.search, self.tau, s, 5)
            P, L = levenberg_marquardt(self.down(P, s, K), self.search, self.tau, s, 15)
            best = (P, L) if best is None or L < best[1] else best
        P, L = best
        failed = 0
        for r in range(rounds):
            trial, n = self.up(P, s, [max(1, K // 3), max(1, K // 6), max(2, K // 2), 1][r % 4])
            if n:
                trial, _ = levenberg_marquardt(trial, self.search, self.tau, s, 5)
                trial = self.down(trial, s, K)
            if "polyhedra" in self.families:
                trial = self.convert({k: x.copy() for k, x in trial.items()}, s)
            trial, L2 = levenberg_marquardt(trial, self.search, self.tau, s, 10)
            P, L, failed = (trial, L2, 0) if L2 < L * (1 - 1e-3) else (P, L, failed + 1)
            if failed == 3:
                break
        for q in (.006, .004):
            P, L = levenberg_marquardt(P, self.final, self.tau, q, 10)
        return P, L


# ---- measures, by cells and points that no fit has seen ----
def genus(v, f):
    """Of the largest piece of a closed surface, and how many pieces there are."""
    import trimesh
    pieces = trimesh.Trimesh(v, f, process=True).split(only_watertight=False)
    piece = max(pieces, key=lambda m: abs(m.volume))
    return 1 - piece.euler_number // 2, len(pieces)


def measure(V, F, P, tau, n=96, pad=8):
    from scipy.spatial import cKDTree
    from skimage.measure import marching_cubes
    low, high = V.min(0), V.max(0)
    h = (high - low) / n
    Q = np.stack(np.meshgrid(*[low[k] + (np.arange(-pad, n + pad) + .5) * h[k] for k in range(3)], indexing="ij"), -1)
    shape = Q.shape[:3]
    M, U = R.inside(V, F, Q.reshape(-1, 3)).reshape(shape), (value(P, Q.reshape(-1, 3), tau) <= 0).reshape(shape)

    def largest(mask):
        size = np.bincount(ndimage.label(mask)[0].ravel())
        return size[1:].max(initial=0) / M.sum()

    cell = 1 / 160
    G = np.stack(np.meshgrid(*[np.arange(low[k] - 8 * cell, high[k] + 9 * cell, cell) for k in range(3)], indexing="ij"), -1)
    v, f, _, _ = marching_cubes(value(P, G.reshape(-1, 3), tau).reshape(G.shape[:3]), 0., spacing=(cell,) * 3)
    A, B = R.surface(V, F, 200000, 1), R.surface(v + low - 8 * cell, f, 200000, 3)
    a, b = (cKDTree(to, balanced_tree=False).query(of[:30000])[0] for to, of in ((B, A), (A, B)))
    of, pieces = genus(v, f)
    return dict(iou=(M & U).sum() / (M | U).sum(), chamfer_percent=50 * (a.mean() + b.mean()), hausdorff_percent=100 * max(a.max(), b.max()),
                largest_uncovered_percent=100 * largest(M & ~U), largest_surplus_percent=100 * largest(U & ~M), genus=of, pieces=pieces)


# ---- parts that are made here ----
def part(name):
    import trimesh
    make = trimesh.creation

    def cylinder(radius, height, x=0., y=0., z=0., sections=48):
        return make.cylinder(radius, height, sections=sections, transform=trimesh.transformations.translation_matrix([x, y, z]))

    def box(x, y, z, at=(0, 0, 0)):
        return make.box((x, y, z), trimesh.transformations.translation_matrix(at))

    if name == "box":
        return box(3, 2, 1)
    if name == "hexagonal prism":
        return cylinder(1, 1.2, sections=6)
    if name == "wedge":
        x = np.array([[0, 0, 0], [2, 0, 0], [0, 0, 1], [0, 1.5, 0], [2, 1.5, 0], [0, 1.5, 1]], float)
        return trimesh.convex.convex_hull(x)
    if name == "bracket":
        return trimesh.boolean.union([box(4, 2, .5), box(.5, 2, 3, (-1.75, 0, 1.25)), box(3, .4, 1.5, (-.2, 0, .5))])
    if name == "stairs":
        return trimesh.boolean.union([box(4 - k, 2, .6, (k / 2, 0, .5 * k)) for k in range(4)])
    if name == "pipe":
        return trimesh.boolean.difference([cylinder(1, 4), cylinder(.8, 5)])
    if name == "mug":
        handle = make.torus(.55, .13, major_sections=64, minor_sections=32)
        handle.apply_transform(trimesh.transformations.rotation_matrix(np.pi / 2, [1, 0, 0]))
        handle.apply_translation([1.05, 0, 0])
        return trimesh.boolean.difference([trimesh.boolean.union([cylinder(1, 2.4), handle]), cylinder(.85, 2.4, z=.18)])
    if name == "flange":
        bores = [cylinder(.16, 1, 1.15 * np.cos(q), 1.15 * np.sin(q), -.8, 48) for q in np.arange(6) * np.pi / 3]
        return trimesh.boolean.difference([trimesh.boolean.union([cylinder(1.5, .35, z=-.8), cylinder(.75, 2)]), cylinder(.55, 3)] + bores)
    bores = [cylinder(.3, 2, x, 0., 0.) for x in (-1.2, 0., 1.2)]
    across = make.cylinder(.2, 3, sections=48, transform=trimesh.transformations.rotation_matrix(np.pi / 2, [1, 0, 0]))
    across.apply_translation([.6, 0, 0])
    return trimesh.boolean.difference([box(4, 1.6, 1)] + bores + [across])


def load(name, meshes):
    """Vertices (centred, diagonal 1) and faces."""
    if CASES[name][0] is not None:
        return R.load(str(meshes / CASES[name][0]))[:2]
    m = part(name)
    V = np.asarray(m.vertices, float)
    return (V - (V.min(0) + V.max(0)) / 2) / np.linalg.norm(np.ptp(V, axis=0)), np.asarray(m.faces, np.int64)


# ---- the command ----
def by_command(abut, name, meshes, folder, family):
    """What the command reports of a part, as a row of the table."""
    import trimesh
    file, K, tau = CASES[name]
    path = meshes / file if file else folder / f"{name}.obj"
    if not file:
        part(name).export(path)
    begin = time.time()
    run = subprocess.run([abut, "decompose", path, "--primitives", str(K), "--union", str(tau), "--family", family, "--json", "-o",
                          folder / "made.body.json"], check=True, capture_output=True, text=True)
    r, mesh = json.loads(run.stdout), trimesh.load(path, force="mesh")
    return dict(mesh=name, primitives=r["primitives"], variant=family, union=tau, objective=r["objective"], subtracted=r["subtracted"], planes=r["planes"],
                parameters=11 * r["primitives"], mesh_genus=genus(mesh.vertices, mesh.faces)[0], seconds=round(time.time() - begin, 1),
                largest_uncovered_percent=100 * r["largest_uncovered"], largest_surplus_percent=100 * r["largest_surplus"],
                genus=r["contact_mesh"]["genus"] if r["contact_mesh"] else None,
                **{k: r[k] for k in ("iou", "chamfer_percent", "hausdorff_percent")})


def table(rows):
    yield "| mesh, primitives | variant | objective, 1e-5 | IoU | Chamfer % | largest surplus % | largest uncovered % | genus (mesh's) | taken away | planes |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    base = {r["mesh"]: r["objective"] for r in rows if r["variant"] in ("add", "sq")}
    for r in rows:
        change = "" if r["variant"] in ("add", "sq") or r["mesh"] not in base else f" ({100 * (r['objective'] / base[r['mesh']] - 1):+.0f} %)"
        yield (f"| {r['mesh']}, {r['primitives']} | {r['variant']} | {1e5 * r['objective']:.2f}{change} | {r['iou']:.3f} | {r['chamfer_percent']:.3f} | "
               f"{r['largest_surplus_percent']:.2f} | {r['largest_uncovered_percent']:.2f} | {r['genus']} ({r['mesh_genus']}) | {r['subtracted']} | {r['planes']} |")


def compare_by_command(abut, meshes, names, write):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            for family in ("sq", "auto"):
                rows.append(by_command(abut, name, meshes, pathlib.Path(folder), family))
                print(json.dumps(rows[-1]), flush=True)
    if write:
        write.write_text(json.dumps(rows, indent=1) + "\n")
    print("\n".join(table(rows)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prototype", type=pathlib.Path, nargs="?", help="decompose_reference.py")
    parser.add_argument("meshes", type=pathlib.Path, nargs="?", help="the folder of the meshes in CASES")
    parser.add_argument("--command", nargs=2, type=pathlib.Path, metavar=("ABUT", "MESHES"), help="the command, and the folder of the meshes in CASES")
    parser.add_argument("--only", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--variants", nargs="+", choices=["add", "subtract", "sharp", "polyhedra"], default=["add", "subtract"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--coarse", action="store_true", help="samples from cells twice as long, in a fifth of the time")
    parser.add_argument("--write", type=pathlib.Path, help="where rows are kept, as JSON")
    parser.add_argument("--table", type=pathlib.Path, nargs="+", help="print the table of rows kept before, and end")
    options = parser.parse_args()
    if options.table:
        rows = [row for file in options.table for row in json.loads(file.read_text())]
        print("\n".join(table(sorted(rows, key=lambda r: list(CASES).index(r["mesh"])))))
        return
    if options.command:
        compare_by_command(*options.command, options.only, options.write)
        return
    if not options.prototype or not options.meshes:
        parser.error("the prototype and the folder of meshes are needed")
    global R, C
    spec = importlib.util.spec_from_file_location("prototype", options.prototype)
    R = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(R)
    C = compile_source()
    rows = []
    for name in options.only:
        file, K, tau = CASES[name]
        V, F = load(name, options.meshes)
        mesh_genus, _ = genus(V, F)
        search = Search(V, F, tau, 2 if options.coarse else 1)
        for variant in options.variants:
            R.E_LOW, search.families, begin = .02 if variant == "sharp" else .1, (variant,), time.time()
            P, L = search.run(K, options.rounds)
            rows.append(dict(mesh=name, primitives=len(P["a"]), variant=variant, union=tau, coarse=options.coarse, rounds=options.rounds, objective=float(L),
                             subtracted=int((P["operation"] == SUBTRACT).sum()),
                             planes=int(P["planes"][P["kind"] == POLYHEDRON].sum()), parameters=int(first_parameters(P)[-1]), mesh_genus=int(mesh_genus),
                             seconds=round(time.time() - begin, 1), **{k: float(x) for k, x in measure(V, F, P, tau).items()}))
            print(json.dumps(rows[-1]), flush=True)
            if options.write:
                options.write.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
