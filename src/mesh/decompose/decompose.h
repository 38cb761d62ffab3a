/* A mesh becomes a body of few superquadrics and polyhedra: the parts of abut_decompose
 * (docs/decompose.md).
 *
 * Inside, every length is a share of the diagonal of the mesh's bounding box, and places are seen
 * from that box's middle. */
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
#define OFFSET_HIGH 1.5   /* of a plane from its polyhedron's centre; AXIS_LOW at least */
#define CELLS 64          /* of the grid along the box's longest side */
#define CELLS_FEWEST 64   /* inside: fewer are no solid */
#define CLUSTER_CELLS 8   /* a primitive is started from so many, at least */
#define BARE_LEAST 4      /* an uncovered component of fewer cells is left alone */
#define MOVE_WIDTH 0.01   /* s of all moves */
#define FINAL_WIDTH 0.004 /* s of the last fit */

/* ---- primitives ---- */

#define PLANES_MOST 8 /* of a polyhedron: so many cost what a superquadric does */

/* A superquadric, or one of the parts of a polyhedron, which come one behind the other in a set:
 * its first part stands for it wherever a primitive is asked for. */
typedef struct primitive {
  double axes[3], exponents[2], centre[3]; /* parts have centres alone, all the same one, which
                                              lies within */
  double turn[9];                          /* its axes are the columns */
  bool away;                     /* it is taken away from the union of those that are not */
  size_t parts, part;            /* how many there are, and which of them it is; 0 parts: a
                                    superquadric */
  double planes[PLANES_EACH][4]; /* outward normal, distance from the centre; no normal: no plane */
} primitive;

/* A set of entries, of which a superquadric is one and a polyhedron as many as it has parts. */
typedef struct primitives {
  primitive at[DECOMPOSE_MOST];
  size_t count;
} primitives;

/* Moves a primitive by a step of its parameters, clipped, and brings it back within bounds. */
primitive primitive_moved(const primitive *p, const double step[PARAMETERS]);
double primitive_volume(const primitive *p);
void primitive_quaternion(const primitive *p, double q[4]);

/* How many times farther from its centre than its surface the place u lies, in units of its
 * axes. */
double primitive_beyond(const primitive *p, const double u[3]);

/* Its field at x, by the formula in double. */
double primitive_field(const primitive *p, const double x[3]);

/* Whether x lies in the box of the axes, scaled and widened. */
bool primitive_near(const primitive *p, const double x[3], double scale, double widened);

/* ---- polyhedra ---- */

/* Makes the parts of a polyhedron of at most PLANES_MOST planes, as primitive.planes has them, seen
 * from its centre. Returns how many there are. */
size_t polyhedron_create(const double (*planes)[4], size_t count, const double centre[3], bool away,
                         primitive *parts);

/* Moves the planes of a part by a step of its parameters, so that the centre stays within. */
void part_move(primitive *part, const double step[PARAMETERS]);

/* Its field at x, by the formula in double; plane: the temperature. */
double polyhedron_field(const primitive *parts, const double x[3], double plane);

/* How far beyond its planes the place x lies: the field without rounded edges. */
double polyhedron_beyond(const primitive *parts, const double x[3]);

/* Lists its planes, and the box of its corners; planes that come no nearer to any corner than
 * `idle` are left out. Returns how many there are, or 0 where it has no end. half_width, unless
 * NULL: half of the least width across a plane. */
size_t polyhedron_planes(const primitive *parts, double idle, double (*planes)[4], double lower[3],
                         double upper[3], double *half_width);

/* Moments of a piece of the solid: its weight, mean and covariance. */
typedef struct moments {
  double weight, mean[3], covariance[9];
} moments;

moments primitive_moments(const primitive *p);
moments moments_joined(const moments *a, const moments *b);

/* Makes the ellipsoid that has these moments. */
primitive primitive_of_moments(const moments *m);

/* ---- samples ---- */

/* Samples of the space about the mesh, in Morton order, in blocks; the last one is filled up by
 * samples without volume. */
typedef struct sample_set {
  size_t count, blocks;
  double *x;                 /* (blocks, DECOMPOSE_BLOCK, 3) */
  double *volume, *distance; /* (blocks, DECOMPOSE_BLOCK) */
  double *balls;             /* (blocks, DECOMPOSE_BALL) */
  buffer *on, *balls_on;     /* the device's */
} sample_set;

/* Centres of some of the grid's cells, each as a sample of no volume. */
typedef struct cell_set {
  sample_set samples;
  size_t size[3];
  double spacing;
  uint32_t *number; /* (size) of the sample at a cell; UINT32_MAX: none of these */
  uint32_t *cell;   /* (samples.count) */
} cell_set;

/* Samples by an octree: cells of edge `finest` where the surface is nearer than about `band`. */
abut_status samples_by_octree(solid *inside, const surface *s, double finest, double band,
                              uint64_t seed, sample_set *out);
/* The box that these samples fill. */
void samples_box(const surface *s, double lower[3], double upper[3]);
abut_status cells_inside(solid *inside, const surface *s, cell_set *out);

/* Lists the cells outside of which primitives may be taken away; of them the pockets, from which at
 * least 4 of 13 lines through their neighbours meet the solid both ways, as in a bore; and the
 * inside with its pockets filled. */
typedef struct cells_apart {
  cell_set outside, pockets, filled;
} cells_apart;

abut_status cells_apart_of(const cell_set *inside, const surface *s, cells_apart *out);
void cells_apart_free(cells_apart *a);
void samples_free(sample_set *s);
void cells_free(cell_set *c);

/* A number in [0, 1) that follows from these alone. */
double uniform_at(uint64_t seed, uint64_t at, uint64_t which);

/* Volume of the primitives beyond a box, each place counted once; where they blend adds nothing. */
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
  double tau;   /* of the union */
  double plane; /* temperature of a polyhedron's planes */
  bool mixed;   /* primitives may be taken away */
  buffer *room[ROOMS];
  size_t room_bytes[ROOMS];
  reals terms, numbers; /* brought down: terms of the last fields; what else */
  int *lists, *ints;
  size_t terms_room, numbers_room, lists_room, ints_room; /* bytes */
  size_t most;                                            /* of the lists */
  uint64_t evaluations; /* fields of a primitive at a sample, in fits */
  bool stalled;         /* the last fit of a whole set found no step at all to take: its
                           equations had no answer, however damped */
} fitter;

abut_status fitter_upload(fitter *f, sample_set *s);
void fitter_free(fitter *f);

/* A set that is fitted to some blocks of samples. */
typedef struct problem {
  primitive *set; /* (count), replaced by what is found */
  size_t count;
  const uint32_t *blocks; /* (block_count); NULL: all */
  size_t block_count;
  int frozen;  /* the row of its first block among the frozen ones, or -1 */
  double loss; /* out */
} problem;

/* Fits sets side by side by Levenberg-Marquardt: at most `steps`, until the loss falls by less than
 * `tolerance` of itself. */
abut_status fit_sets(fitter *f, const sample_set *s, problem *problems, size_t count, double width,
                     size_t steps, double tolerance);

/* Does the same with one set and all samples. *loss may be NULL. */
abut_status fit_whole(fitter *f, const sample_set *s, primitives *p, double width, size_t steps,
                      double *loss);

/* Finds the fields of a set over all blocks, and what is left of them on the device and in f->terms
 * and f->lists until the next fit. */
abut_status fit_look(fitter *f, const sample_set *s, const primitives *p, double width);

/* Finds what the removal of each of that set's primitives costs, and leaves what NEAREST_* says of
 * the samples on the device. */
abut_status fit_costs(fitter *f, const sample_set *s, double width, double *costs);

/* Makes rows of frozen fields after fit_look. wanted: (rows, 3) a block, and two primitives, or -1,
 * without which the union is meant. */
abut_status fit_freeze(fitter *f, const int *wanted, size_t rows);

/* Makes the equations of a set at all samples: J'J and J'r, which is half the slope of the loss. *e
 * is the caller's to free. */
abut_status fit_equations(fitter *f, const sample_set *s, primitive *set, size_t count,
                          double width, double *loss, equations *e);

/* Returns the objective after fit_look. */
double fit_loss(const fitter *f, const sample_set *s);

/* Brings down the body's field at all samples (f->numbers) after fit_look. */
abut_status fit_unions(fitter *f, const sample_set *s);

/* Volumes of samples after fit_unions: within the mesh, within the union of primitives, within
 * both, within either. */
typedef struct fit_volumes {
  double mesh, of_union, both, either;
} fit_volumes;

fit_volumes fit_volumes_of(const fitter *f, const sample_set *s);

/* Returns the share of `both` in `either`. */
double fit_iou(const fitter *f, const sample_set *s);

/* Makes room in one of the device's buffers; copies `from` there if it is not NULL. */
abut_status fit_room(fitter *f, size_t which, size_t bytes, const void *from);
abut_status fit_numbers(fitter *f, size_t count);
abut_status fit_ints(fitter *f, size_t count);

/* ---- equations ---- */

/* A block-sparse symmetric matrix of blocks of PARAMETERS: the lower triangle, and which blocks are
 * not zero. */
struct equations {
  size_t count;         /* blocks a side */
  double *blocks;       /* (count, count, PARAMETERS, PARAMETERS) */
  double *right;        /* (count, PARAMETERS) */
  unsigned char *there; /* (count, count) */
  double *factor;       /* room for as many blocks */
  unsigned char *filled;
  uint32_t *order; /* of elimination */
  bool *free;      /* (count, PARAMETERS) */
};

abut_status equations_create(equations *e, size_t count);
void equations_free(equations *e);
void equations_clear(equations *e);

/* Finds an order of elimination that fills in little. */
void equations_order(equations *e);

/* Solves (A + lambda diag A + 1e-9 max diag) x = -right over what is free. Returns whether the
 * matrix is positive. */
bool equations_solve(const equations *e, double lambda, double *x);

/* ---- moves ---- */

/* Everything that a decomposition works with. */
typedef struct decomposition {
  const abut_decompose_options *options;
  solid *inside;
  surface *of;
  sample_set search, fine;
  cell_set cells;
  cells_apart apart; /* where primitives may be taken away */
  fitter fit;
  abut_decompose_report *report;
} decomposition;

/* Fills in what a report says of superquadrics alone, as if there were nothing else. */
void report_superquadrics(abut_decompose_report *r, const abut_superquadric *s, size_t count);

/* Ends with ABUT_ERROR_CANCELLED where the caller wants that. */
abut_status decompose_tell(const decomposition *d, const char *what, double share);

/* Starts from clusters of cells. */
abut_status start_clusters(const decomposition *d, const cell_set *cells, size_t count,
                           primitives *out);

/* Appends an ellipsoid that is taken away for each of the largest pockets, at most as many. */
abut_status add_pockets(const decomposition *d, size_t most, primitives *out);

/* Adds up to `count` primitives. *added: how many. */
abut_status move_up(decomposition *d, primitives *p, size_t count, size_t *added);

/* Removes and merges down to `count`; `visit` is told each set that was passed, or NULL. */
typedef abut_status (*move_visit)(void *user, const primitives *p);
abut_status move_down(decomposition *d, primitives *p, size_t count, move_visit visit, void *user);

/* A polyhedron in place of a superquadric. */
typedef struct conversion {
  primitive parts[PARTS_MOST];
  size_t count;  /* of parts; 0: none betters it */
  double change; /* of the loss, with all else as it is */
} conversion;

/* Finds for each entry of a set the polyhedron that betters it most, by more than `least`; entries
 * that are parts have none. */
abut_status move_to_planes(decomposition *d, const primitives *p, double least,
                           conversion out[DECOMPOSE_MOST]);

/* Places of the mesh's surface, each with the entry whose surface is nearest. */
typedef struct facets {
  size_t count;
  double *x, *normal; /* (count, 3) */
  uint32_t *nearest;  /* (count) UINT32_MAX: none is near */
} facets;

abut_status facets_find(const decomposition *d, const primitives *p, facets *out);
void facets_free(facets *f);

/* Makes planes of the faces beside superquadric l, and of its box where there is none to one side.
 * Returns how many. */
size_t facets_planes(const facets *f, const primitives *p, size_t l, double (*planes)[4]);

/* Makes the planes of the box that has the superquadric's axes and volume. */
size_t box_planes(const primitive *p, double (*planes)[4]);

/* Lengthens what is taken away, out of the mesh, where that leaves the body's surface where it is,
 * so that its field is not near 0 where its surface is far. The objective of the final samples gets
 * no larger than most_loss by that. */
abut_status reach_out(decomposition *d, primitives *p, double most_loss);

/* ---- figures ---- */

/* Reports figures of a set on the final samples, whose union lies in fit.numbers, and beyond
 * them. */
abut_status report_samples(decomposition *d, const primitives *found);

#endif
