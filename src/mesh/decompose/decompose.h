/* The parts of abut_decompose, which turns a mesh into a body of few superquadrics and polyhedra
 * (docs/decompose.md). Internally, every length is a share of the diagonal of the mesh's bounding
 * box, and places are relative to the middle of that box. */
#ifndef ABUT_DECOMPOSE_DECOMPOSE_H
#define ABUT_DECOMPOSE_DECOMPOSE_H

#include "base/reals.h"
#include "engine/device/device.h"
#include "geometry/decompose.h"
#include "mesh/surface/solid.h"
#include <abut/decompose.h>

#define PARAMETERS DECOMPOSE_PARAMETERS
#define EXPONENT_LOW 0.1
#define EXPONENT_HIGH 1.9
#define AXIS_LOW 0.002
#define AXIS_HIGH 0.7
/* distance of a plane from its polyhedron's centre; the minimum is AXIS_LOW */
#define OFFSET_HIGH 1.5
#define CELLS 64          /* cells of the grid along the box's longest side */
#define CELLS_FEWEST 64   /* least number of cells inside; with fewer the mesh is not a solid */
#define CLUSTER_CELLS 8   /* least number of cells from which a primitive is started */
#define BARE_LEAST 4      /* uncovered components with fewer cells are ignored */
#define MOVE_WIDTH 0.01   /* width s in all moves */
#define FINAL_WIDTH 0.004 /* width s in the last fit */

/* ---- primitives ---- */

#define PLANES_MOST 8 /* maximum per polyhedron; they cost as much as a superquadric */

/* A superquadric, or one part of a polyhedron. The parts of a polyhedron are consecutive entries of
 * a set. The first part represents the polyhedron. */
typedef struct primitive {
  double axes[3], exponents[2], centre[3]; /* parts only have the centre, which they share */
  double turn[9];                          /* the columns are its axes */
  bool away;          /* subtracted from the union of the primitives that are not away */
  size_t parts, part; /* number of parts and index of this part; parts is 0 for a superquadric */
  double planes[PLANES_EACH][4]; /* unit normal, distance from the centre; zero normal: none */
} primitive;

/* A set of entries: one for each superquadric, and one for each part of a polyhedron. */
typedef struct primitives {
  primitive at[DECOMPOSE_MOST];
  size_t count;
} primitives;

/* Moves a primitive by a step of its parameters, which is clipped so that the primitive stays
 * within bounds. */
primitive primitive_moved(const primitive *p, const double step[PARAMETERS]);
double primitive_volume(const primitive *p);
void primitive_quaternion(const primitive *p, double q[4]);

/* Returns the ratio between the distance of u from the centre and that of the surface in the same
 * direction. u is in units of the axes. */
double primitive_beyond(const primitive *p, const double u[3]);

/* Its field at x, in double. */
double primitive_field(const primitive *p, const double x[3]);

/* Whether x is in the box of the axes, scaled and widened. */
bool primitive_near(const primitive *p, const double x[3], double scale, double widened);

/* ---- polyhedra ---- */

/* Makes the parts of a polyhedron from at most PLANES_MOST planes (format of primitive.planes)
 * relative to its centre. Returns the number of parts. */
size_t polyhedron_create(const double (*planes)[4], size_t count, const double centre[3], bool away,
                         primitive *parts);

/* Moves the planes of a part by a step of its parameters, so that the centre stays inside. */
void part_move(primitive *part, const double step[PARAMETERS]);

/* Its field at x, in double. plane: the temperature. */
double polyhedron_field(const primitive *parts, const double x[3], double plane);

/* Distance of x beyond its planes: the field without rounded edges. */
double polyhedron_beyond(const primitive *parts, const double x[3]);

/* Lists its planes and the box of its corners. Planes farther than `idle` from every corner are
 * left out. Returns the number of planes, or 0 if the polyhedron is unbounded. half_width, unless
 * NULL: half the least width across a plane. */
size_t polyhedron_planes(const primitive *parts, double idle, double (*planes)[4], double lower[3],
                         double upper[3], double *half_width);

/* Moments of a piece of a solid: weight, mean and covariance. */
typedef struct moments {
  double weight, mean[3], covariance[9];
} moments;

moments primitive_moments(const primitive *p);
moments moments_joined(const moments *a, const moments *b);

/* Makes the ellipsoid with these moments. */
primitive primitive_of_moments(const moments *m);

/* ---- samples ---- */

/* Samples of the space around the mesh, in Morton order, in blocks. Samples without volume fill the
 * last block. */
typedef struct sample_set {
  size_t count, blocks;
  double *x;                 /* (blocks, DECOMPOSE_BLOCK, 3) */
  double *volume, *distance; /* (blocks, DECOMPOSE_BLOCK) */
  double *balls;             /* (blocks, DECOMPOSE_BALL) */
  buffer *on, *balls_on;     /* on the device */
} sample_set;

/* Centres of some of the grid's cells, as samples without volume. */
typedef struct cell_set {
  sample_set samples;
  size_t size[3];
  double spacing;
  uint32_t *number; /* (size) sample of each cell; UINT32_MAX: the cell is not in the set */
  uint32_t *cell;   /* (samples.count) */
} cell_set;

/* Takes samples with an octree, whose cells have the edge `finest` within about `band` of the
 * surface. */
abut_status samples_by_octree(solid *inside, const surface *s, double finest, double band,
                              uint64_t seed, sample_set *out);
/* Gives the box that these samples fill. */
void samples_box(const surface *s, double lower[3], double upper[3]);
abut_status cells_inside(solid *inside, const surface *s, cell_set *out);

/* Lists the outside cells, where primitives may be subtracted; the pockets among them; and the
 * inside with filled pockets. In a pocket, such as a bore, at least 4 of 13 lines through a cell's
 * neighbours meet the solid in both directions. */
typedef struct cells_apart {
  cell_set outside, pockets, filled;
} cells_apart;

abut_status cells_apart_of(const cell_set *inside, const surface *s, cells_apart *out);
void cells_apart_free(cells_apart *a);
void samples_free(sample_set *s);
void cells_free(cell_set *c);

/* A number in [0, 1) determined by the arguments. */
double uniform_at(uint64_t seed, uint64_t at, uint64_t which);

/* Volume of the primitives outside a box. Overlaps are counted once, and blending is ignored. */
double volume_beyond(const primitives *p, const double lower[3], const double upper[3]);

/* ---- fits on a device ---- */

enum {
  ROOM_PRIMITIVES,
  ROOM_ITEMS,
  ROOM_FIELDS,
  ROOM_UNIONS,
  ROOM_HALVES,
  ROOM_TERMS,
  ROOM_LISTS,
  ROOM_WANTED,
  ROOM_ROWS,
  ROOM_PRODUCTS,
  ROOM_NEAREST,
  ROOM_COSTS,
  ROOM_FROZEN,
  ROOMS
};

typedef struct equations equations;

typedef struct fitter {
  device *device;
  double tau;   /* temperature of the union */
  double plane; /* temperature of a polyhedron's planes */
  bool mixed;   /* primitives may be subtracted */
  buffer *room[ROOMS];
  size_t room_bytes[ROOMS];
  reals terms, numbers; /* read back: terms of the last fields; other results */
  int *lists, *ints;
  size_t terms_room, numbers_room, lists_room, ints_room; /* in bytes */
  size_t most;                                            /* length of each list */
  uint64_t evaluations; /* evaluations of one primitive at one sample, in fits */
  bool stalled; /* the last fit of a whole set found no step: its equations were unsolvable with any
                   damping */
} fitter;

abut_status fitter_upload(fitter *f, sample_set *s);
void fitter_free(fitter *f);

/* A set that is fitted to some blocks of samples. */
typedef struct problem {
  primitive *set; /* (count), replaced by the result */
  size_t count;
  const uint32_t *blocks; /* (block_count); NULL: all */
  size_t block_count;
  int frozen;  /* row of its first block among the frozen fields, or -1 */
  double loss; /* result */
} problem;

/* Fits sets side by side by Levenberg-Marquardt. Stops after `steps` steps, or when the relative
 * decrease of the loss is below `tolerance`. */
abut_status fit_sets(fitter *f, const sample_set *s, problem *problems, size_t count, double width,
                     size_t steps, double tolerance);

/* Fits one set to all samples in the same way. *loss may be NULL. */
abut_status fit_whole(fitter *f, const sample_set *s, primitives *p, double width, size_t steps,
                      double *loss);

/* Evaluates the fields of a set over all blocks. The results stay on the device and in f->terms and
 * f->lists until the next fit. */
abut_status fit_look(fitter *f, const sample_set *s, const primitives *p, double width);

/* Computes the cost of removing each primitive of that set. The NEAREST_* results of the samples
 * stay on the device. */
abut_status fit_costs(fitter *f, const sample_set *s, double width, double *costs);

/* Makes rows of frozen fields after fit_look: unions without two primitives, at one block of
 * samples. wanted: (rows, 3), a block and the indices of these primitives, or -1 for none. */
abut_status fit_freeze(fitter *f, const int *wanted, size_t rows);

/* Makes the equations of a set at all samples: J'J and J'r, which is half the gradient of the loss.
 * The caller frees *e. */
abut_status fit_equations(fitter *f, const sample_set *s, primitive *set, size_t count,
                          double width, double *loss, equations *e);

/* Returns the objective after fit_look. */
double fit_loss(const fitter *f, const sample_set *s);

/* Reads back the body's field at all samples (f->numbers) after fit_look. */
abut_status fit_unions(fitter *f, const sample_set *s);

/* Volumes of samples after fit_unions: inside the mesh, inside the union of primitives, inside
 * both, and inside either. */
typedef struct fit_volumes {
  double mesh, of_union, both, either;
} fit_volumes;

fit_volumes fit_volumes_of(const fitter *f, const sample_set *s);

/* Returns the ratio of `both` to `either`. */
double fit_iou(const fitter *f, const sample_set *s);

/* Makes room in one of the device's buffers, and copies `from` there unless it is NULL. */
abut_status fit_room(fitter *f, size_t which, size_t bytes, const void *from);
abut_status fit_numbers(fitter *f, size_t count);
abut_status fit_ints(fitter *f, size_t count);

/* ---- equations ---- */

/* A symmetric block-sparse matrix with blocks of PARAMETERS: its lower triangle, and flags of the
 * non-zero blocks. */
struct equations {
  size_t count;         /* blocks per side */
  double *blocks;       /* (count, count, PARAMETERS, PARAMETERS) */
  double *right;        /* (count, PARAMETERS) */
  unsigned char *there; /* (count, count) */
  double *factor;       /* room for the same number of blocks */
  unsigned char *filled;
  uint32_t *order; /* elimination order */
  bool *free;      /* (count, PARAMETERS) */
};

abut_status equations_create(equations *e, size_t count);
void equations_free(equations *e);
void equations_clear(equations *e);

/* Finds an elimination order with little fill-in. */
void equations_order(equations *e);

/* Solves (A + lambda diag A + 1e-9 max diag) x = -right for the free parameters. Returns whether
 * the matrix is positive definite. */
bool equations_solve(const equations *e, double lambda, double *x);

/* ---- moves ---- */

/* The complete state of a decomposition. */
typedef struct decomposition {
  const abut_decompose_options *options;
  solid *inside;
  surface *of;
  sample_set search, fine;
  cell_set cells;
  cells_apart apart; /* where primitives may be subtracted */
  fitter fit;
  abut_decompose_report *report;
} decomposition;

/* Fills in the report's entries about superquadrics, as if the body had no other primitives. */
void report_superquadrics(abut_decompose_report *r, const abut_superquadric *s, size_t count);

/* Reports progress. Returns ABUT_ERROR_CANCELLED if the caller cancels. */
abut_status decompose_tell(const decomposition *d, const char *what, double share);

/* Starts from clusters of cells. */
abut_status start_clusters(const decomposition *d, const cell_set *cells, size_t count,
                           primitives *out);

/* Appends a subtracted ellipsoid for each of the largest pockets, at most `most`. */
abut_status add_pockets(const decomposition *d, size_t most, primitives *out);

/* Adds up to `count` primitives. *added: the number that was added. */
abut_status move_up(decomposition *d, primitives *p, size_t count, size_t *added);

/* Removes and merges primitives down to `count`. `visit`, unless NULL, receives each intermediate
 * set. */
typedef abut_status (*move_visit)(void *user, const primitives *p);
abut_status move_down(decomposition *d, primitives *p, size_t count, move_visit visit, void *user);

/* A polyhedron that replaces a superquadric. */
typedef struct conversion {
  primitive parts[PARTS_MOST];
  size_t count;  /* number of parts; 0: no polyhedron improves on the superquadric */
  double change; /* change of the loss, with all other primitives unchanged */
} conversion;

/* Finds for each superquadric of a set the polyhedron that lowers the loss most, by more than
 * `least`. Entries that are parts have none. */
abut_status move_to_planes(decomposition *d, const primitives *p, double least,
                           conversion out[DECOMPOSE_MOST]);

/* Points on the mesh's surface, each with the entry whose surface is nearest. */
typedef struct facets {
  size_t count;
  double *x, *normal; /* (count, 3) */
  uint32_t *nearest;  /* (count) UINT32_MAX: none is near */
} facets;

abut_status facets_find(const decomposition *d, const primitives *p, facets *out);
void facets_free(facets *f);

/* Makes planes from the faces next to superquadric l. Its box supplies the planes for sides without
 * a face. Returns the number of planes. */
size_t facets_planes(const facets *f, const primitives *p, size_t l, double (*planes)[4]);

/* Makes the planes of the box that has the superquadric's axes and volume. */
size_t box_planes(const primitive *p, double (*planes)[4]);

/* Lengthens subtracted primitives out of the mesh where that does not change the body's surface.
 * Otherwise the field would be near 0 far from its surface. The objective on the final samples
 * stays within most_loss. */
abut_status reach_out(decomposition *d, primitives *p, double most_loss);

/* ---- reported values ---- */

/* Reports values of a set on the final samples, whose union is in fit.numbers, and outside them. */
abut_status report_samples(decomposition *d, const primitives *found);

#endif
