/* Decomposition of a mesh into a body of few superquadrics, or polyhedra, whose union lies on the
 * mesh.
 *
 * Twice as many ellipsoids as needed are fitted together to the volume where the signs of mesh and
 * union differ. They are merged and removed down to the requested number, and improved by moves
 * that are kept only if that volume decreases (docs/decompose.md). All fits run on a device of the
 * context. Nothing is printed; abut_decompose_report holds the warnings.
 */
#ifndef ABUT_DECOMPOSE_H
#define ABUT_DECOMPOSE_H

#include <abut/body.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ABUT_DECOMPOSE_MOST 64 /* largest number of primitives of a decomposition */
#define ABUT_TABLE_COLUMNS 11  /* numbers per superquadric in tables of other programs */

/* Primitives of the body. */
typedef enum abut_decompose_family {
  ABUT_DECOMPOSE_SQ = 0,  /* superquadrics, all of them added */
  ABUT_DECOMPOSE_AUTO = 1 /* these; or as many primitives, some of them subtracted, for bores and
                             hollows, or polyhedra of at most 8 planes, for sharp edges, if that
                             lowers the objective by 5 % or more. Takes about twice as long */
} abut_decompose_family;

typedef struct abut_decompose_options {
  uint32_t primitives;      /* number of primitives, 1 to 64; 0: as few as the error permits */
  double error;             /* permitted 1 - IoU if `primitives` is 0, 1e-3 to 0.9; 0: 0.05 */
  uint32_t most_primitives; /* largest number of primitives tried for an error, 1 to 64; 0: 32,
                               or 64 if `error` is given */
  double union_;            /* temperature of the union for the fit, as a share of the mesh's
                               diagonal, 0.001 to 0.05; 0: 0.008 */
  abut_decompose_family family;
  uint64_t seed; /* of samples and of the first cluster */
  double scale;  /* only for abut_load_decomposition: the file's unit of length [m], 1e-9 to 1e9;
                    0: 1 */
  /* Called between steps with the current step and the finished share of the whole. Returning
     false stops the call with ABUT_ERROR_CANCELLED. The thread that drives the device calls it.
     May be NULL. */
  bool (*progress)(void *user, const char *what, double share);
  void *user;
  uint32_t cookie; /* set by abut_default_decompose_options */
} abut_decompose_options;

ABUT_API abut_decompose_options abut_default_decompose_options(void);

typedef enum abut_decompose_end {
  ABUT_DECOMPOSED = 0,      /* as requested */
  ABUT_DECOMPOSE_FEWER = 1, /* fewer primitives: the shape has too few cells inside for more */
  ABUT_DECOMPOSE_ERROR_NOT_REACHED = 2, /* the largest number of primitives, with a larger error
                                           than requested */
  ABUT_DECOMPOSE_STALLED = 3 /* the equations of the last fit had no solution; the result is that
                                before the last fit */
} abut_decompose_end;

/* Shares and figures from samples of the space around the mesh, weighted by volume. */
typedef struct abut_decompose_report {
  abut_decompose_end end;
  size_t faces;                        /* of the mesh before repair */
  size_t shells_turned;                /* shells that were inside out and were turned */
  size_t holes;                        /* holes that were closed */
  size_t open_edges;                   /* edges that remain open */
  double welded_within, closing_doubt; /* as in abut_field_report */
  double diagonal;                     /* of the mesh's box [m] */
  double volume;                       /* of the mesh [m^3] */
  double sampled_volume;               /* the mesh's volume by the samples [m^3] */
  size_t samples;                      /* of the last fits */
  size_t primitives;
  size_t subtracted;          /* number of subtracted primitives */
  size_t polyhedra;           /* number of polyhedra; the other primitives are superquadrics */
  size_t planes;              /* of all polyhedra */
  double union_;              /* temperature of the union in the fit [m] */
  double plane;               /* temperature of a polyhedron's planes in the fit, as from
                                 abut_fit_smoothing for two such bodies [m] */
  double objective;           /* of the last fit, in cubes of the diagonal: about four times the
                                 volume where the signs of mesh and body differ, with less weight
                                 near the surface */
  double iou;                 /* intersection over union of mesh and body */
  double coverage, precision; /* share of the mesh that the body covers, and share of the body
                                 inside the mesh. Here and in `iou` the whole body counts,
                                 wherever it is */
  /* As in abut_fit, by these samples: depth by the body's field over depth in the mesh. */
  double depth_ratio_median, depth_ratio_95, depth_ratio_most;
  double depth_ratio_most_at[3];   /* [m] */
  size_t exponents_at_bound;       /* number of exponents at 0.1 or at 1.9 */
  double smallest_axis;            /* smallest half axis, or half of the smallest width of a
                                      polyhedron across one of its planes [m] */
  size_t moves_kept, moves_undone; /* rounds of moves */
  uint64_t evaluations;            /* evaluations of a primitive's field at a sample, in fits */
  double seconds;                  /* of the whole call */
  double seconds_sampling, seconds_start, seconds_moves, seconds_final, seconds_planes;
  uint32_t suspicions; /* bits of abut_suspicion: UNIT, SMALL, TRAILING, WELDED, CLOSING, and
                          OPEN if edges remain open and no hole was closed */
  size_t trailing;     /* bytes after the end of the mesh in its file, which were ignored */
  size_t failures;     /* devices that failed, whose work another device repeated */
} abut_decompose_report;

/* A body and a report on its fit. `def` points into the decomposition. */
typedef struct abut_decomposition {
  abut_body_def def; /* superquadrics and polyhedra, their union's temperature, a
                        contact mesh of about 1,000 vertices on the given mesh, and
                        that mesh's surface */
  abut_decompose_report report;
  void *memory;
} abut_decomposition;

/* Decomposes the vertices and faces of `mesh` into primitives; its other members are ignored.
 * Vertices at the same place are welded, holes are closed, and shells that are inside out are
 * turned, as by abut_make_field.
 *
 * The same mesh, options and kind of device give the same body to the bit. Devices differ by
 * rounding, which may change a move.
 *
 * Errors: ABUT_ERROR_BODY (out of range, not finite, no face with an area, encloses nothing or too
 * little, an undefined inside; the text says what to try), ABUT_ERROR_ARGUMENT, ABUT_ERROR_MEMORY,
 * ABUT_ERROR_CANCELLED.
 */
ABUT_API abut_status abut_decompose(abut_context context, const abut_body_def *mesh,
                                    const abut_decompose_options *options, abut_decomposition *out);
ABUT_API void abut_free_decomposition(abut_decomposition *decomposition);

/* Superquadrics that another program has fitted. */
typedef struct abut_superquadrics {
  abut_superquadric *superquadrics; /* (count) */
  size_t count;
  double union_; /* temperature of the union in their fit [m]; 0 if unknown */
} abut_superquadrics;

/* Makes superquadrics from rows of numbers, in the form of programs that fit them
 * (Marching-Primitives of Liu and others, CVPR 2023, and their earlier EMS). A row is e1 e2, half
 * axes x y z [m], angles [rad] about z, y and x, and the centre x y z [m]. A primitive's axes are
 * the columns of Rz Ry Rx.
 *
 * rows  (count, ABUT_TABLE_COLUMNS)
 * Errors: ABUT_ERROR_BODY, with row and column, counted from 1 (not finite, an axis that is not in
 * [1e-6, 1e6], an exponent that is not in (0, 2]); ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_superquadrics_from_rows(const double *rows, size_t count,
                                                  abut_superquadric *out);

/* Makes rows of numbers from superquadrics, in the form of abut_superquadrics_from_rows. The second
 * angle is in [-pi/2, pi/2]; if it is at a bound, the third angle is 0. Errors: ABUT_ERROR_BODY (a
 * subtracted superquadric, which a row cannot express, or one whose row
 * abut_superquadrics_from_rows would refuse), ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_superquadrics_to_rows(const abut_superquadric *superquadrics,
                                                size_t count, double *rows);

/* Makes a decomposition from given superquadrics, as if they had been fitted. abut_create_body
 * takes its `def`, and abut_write_decomposition writes it. Its contact mesh has 42 vertices on each
 * primitive, with faces between them. Each of these meshes is closed, and some may be inside
 * others; replace them by the mesh of abut_make_contact_mesh. The report has end, primitives,
 * subtracted (0), diagonal (of the box of all primitives), union_, exponents_at_bound,
 * smallest_axis and suspicions; all else is 0.
 *
 * union_  temperature of the union, as a share of that diagonal, 0.001 to 0.05; 0: the temperature
 *         of `from`, or 0.004 if that has none
 * Errors: ABUT_ERROR_BODY (one is out of range, or subtracted; there is none), ABUT_ERROR_ARGUMENT,
 * ABUT_ERROR_MEMORY. */
ABUT_API abut_status abut_import_superquadrics(const abut_superquadrics *from, double union_,
                                               abut_decomposition *out);

#ifdef __cplusplus
}
#endif
#endif
