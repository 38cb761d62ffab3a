/* Decomposition: a mesh becomes a body of few superquadrics, or polyhedra, whose union lies on it.
 *
 * Twice too many ellipsoids are fitted together to the volume where the signs of mesh and union
 * differ, merged and removed down to the count asked for, and improved by moves that are kept only
 * where that volume falls (docs/decompose.md). All fits run on a device of the context. Nothing is
 * printed; what a caller should know is in abut_decompose_report.
 */
#ifndef ABUT_DECOMPOSE_H
#define ABUT_DECOMPOSE_H

#include <abut/body.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ABUT_DECOMPOSE_MOST 64 /* primitives of a body that is made here */
#define ABUT_TABLE_COLUMNS 11  /* numbers of a superquadric in tables of other programs */

/* What bodies are made of. */
typedef enum abut_decompose_family {
  ABUT_DECOMPOSE_SQ = 0,  /* superquadrics that all add */
  ABUT_DECOMPOSE_AUTO = 1 /* these, or as many of which some are taken away, for bores and
                             hollows, or are polyhedra of at most 8 planes, for sharp edges,
                             where that lowers the objective by 5 % and more; takes about twice
                             as long */
} abut_decompose_family;

typedef struct abut_decompose_options {
  uint32_t primitives;      /* so many, 1 to 64; 0: as few as the error allows */
  double error;             /* 1 - IoU that is allowed where `primitives` is 0, 1e-3 to 0.9; 0:
                               0.05 */
  uint32_t most_primitives; /* of which an error is tried, 1 to 64; 0: 32, or 64 where `error` is
                               given */
  double union_;            /* temperature of the union that the primitives are fitted with, as a
                               share of the mesh's diagonal, 0.001 to 0.05; 0: 0.008 */
  abut_decompose_family family;
  uint64_t seed; /* of samples and of the first cluster */
  double scale;  /* of abut_load_decomposition alone: the file's unit of length [m],
                    1e-9 to 1e9; 0: 1 */
  /* Told between steps what is done and which share of the whole; false ends it there with
     ABUT_ERROR_CANCELLED. Called by the thread that drives the device. May be NULL. */
  bool (*progress)(void *user, const char *what, double share);
  void *user;
  uint32_t cookie; /* set by abut_default_decompose_options */
} abut_decompose_options;

ABUT_API abut_decompose_options abut_default_decompose_options(void);

typedef enum abut_decompose_end {
  ABUT_DECOMPOSED = 0,      /* as asked for */
  ABUT_DECOMPOSE_FEWER = 1, /* of fewer primitives: the shape has too few cells inside for
                               more */
  ABUT_DECOMPOSE_ERROR_NOT_REACHED = 2, /* of the most primitives, with a larger error than asked
                                           for */
  ABUT_DECOMPOSE_STALLED = 3 /* the equations of the last fit had no answer; what was before
                                it is given */
} abut_decompose_end;

/* Shares and figures of samples of the space about the mesh, weighted by volume. */
typedef struct abut_decompose_report {
  abut_decompose_end end;
  size_t faces;                        /* of the mesh as read */
  size_t shells_turned;                /* that were inside out */
  size_t holes;                        /* closed */
  size_t open_edges;                   /* left open */
  double welded_within, closing_doubt; /* as in abut_field_report */
  double diagonal;                     /* of the mesh's box [m] */
  double volume;                       /* of the mesh [m^3] */
  double sampled_volume;               /* the same by the samples [m^3] */
  size_t samples;                      /* of the last fits */
  size_t primitives;
  size_t subtracted;          /* of them */
  size_t polyhedra;           /* of them; the others are superquadrics */
  size_t planes;              /* of all polyhedra */
  double union_;              /* temperature that it was fitted with [m] */
  double plane;               /* temperature of a polyhedron's planes that it was fitted with,
                                 abut_fit_smoothing's for two such bodies [m] */
  double objective;           /* of the last fit, in cubes of the diagonal: about four times the
                                 volume where signs of mesh and body differ, less near the
                                 surface */
  double iou;                 /* intersection over union of mesh and body */
  double coverage, precision; /* share of the mesh that the body covers, and the other way
                                 round; here and in `iou` all of the body counts, wherever it
                                 lies */
  /* As of abut_fit, by these samples: depth by the body's field over that in the mesh. */
  double depth_ratio_median, depth_ratio_95, depth_ratio_most;
  double depth_ratio_most_at[3];   /* [m] */
  size_t exponents_at_bound;       /* at 0.1 or at 1.9 */
  double smallest_axis;            /* or half of the least width of a polyhedron across one of its
                                      planes [m] */
  size_t moves_kept, moves_undone; /* rounds of them */
  uint64_t evaluations;            /* of a primitive's field at a sample, in fits */
  double seconds;                  /* of the whole call */
  double seconds_sampling, seconds_start, seconds_moves, seconds_final, seconds_planes;
  uint32_t suspicions; /* bits of abut_suspicion: of UNIT, SMALL, TRAILING, WELDED, CLOSING, and
                          OPEN where edges are left open and no hole was closed */
  size_t trailing;     /* bytes behind the end of the mesh in its file, which were left out */
  size_t failures;     /* devices that failed, whose work another one did anew */
} abut_decompose_report;

/* A body and what it was made with. `def` points into it. */
typedef struct abut_decomposition {
  abut_body_def def; /* superquadrics and polyhedra, their union's temperature, a
                        contact mesh of about 1,000 vertices on the given mesh, and
                        that mesh's surface */
  abut_decompose_report report;
  void *memory;
} abut_decomposition;

/* Decomposes the vertices and faces of `mesh`; all else in it is left aside. Vertices at one place
 * are welded, holes closed and shells that are inside out turned, as by abut_make_field.
 *
 * The same mesh, options and kind of device give the same body to the bit; devices differ by
 * rounding, which may turn a move.
 *
 * Errors: ABUT_ERROR_BODY (out of range, not finite, no face of any area, encloses nothing or too
 * little, an inside that is not defined: the text says what to try), ABUT_ERROR_ARGUMENT,
 * ABUT_ERROR_MEMORY, ABUT_ERROR_CANCELLED.
 */
ABUT_API abut_status abut_decompose(abut_context context, const abut_body_def *mesh,
                                    const abut_decompose_options *options, abut_decomposition *out);
ABUT_API void abut_free_decomposition(abut_decomposition *decomposition);

/* Superquadrics that are there already. */
typedef struct abut_superquadrics {
  abut_superquadric *superquadrics; /* (count) */
  size_t count;
  double union_; /* temperature of the union that they were fitted with [m]; 0 where nothing
                    tells it */
} abut_superquadrics;

/* Makes superquadrics of rows of numbers, as programs that fit them write these
 * (Marching-Primitives of Liu and others, CVPR 2023, and their EMS before it): e1 e2, half axes x y
 * z [m], angles [rad] about z, y and x, and the centre x y z [m]. A primitive's axes are the
 * columns of Rz Ry Rx.
 *
 * rows (count, ABUT_TABLE_COLUMNS) Errors: ABUT_ERROR_BODY, with row and column, counted from 1
 * (not finite, an axis that is not in [1e-6, 1e6], an exponent that is not in (0, 2]);
 * ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_superquadrics_from_rows(const double *rows, size_t count,
                                                  abut_superquadric *out);

/* Makes such rows of superquadrics; the second angle is in [-pi/2, pi/2], and where it is at an end
 * the third is 0. Errors: ABUT_ERROR_BODY (one that is subtracted, which a row cannot say, or whose
 * row abut_superquadrics_from_rows would refuse), ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_superquadrics_to_rows(const abut_superquadric *superquadrics,
                                                size_t count, double *rows);

/* Makes a decomposition of superquadrics that are there already, as if it had been fitted:
 * abut_create_body takes its `def`, and abut_write_decomposition writes it. As contact mesh it has
 * 42 vertices and faces between them on each primitive by itself, closed, some of which lie within
 * others; a caller puts the mesh of abut_make_contact_mesh in their place. Of the report end,
 * primitives, subtracted (0), diagonal (of the box of all primitives), union_, exponents_at_bound,
 * smallest_axis and suspicions are filled in; all else is 0.
 *
 * union_  temperature of the union, as a share of that diagonal, 0.001 to 0.05; 0: the one of
 * `from`, and
 *         where that has none 0.004
 * Errors: ABUT_ERROR_BODY (one is out of range, or subtracted; there is none), ABUT_ERROR_ARGUMENT,
 * ABUT_ERROR_MEMORY. */
ABUT_API abut_status abut_import_superquadrics(const abut_superquadrics *from, double union_,
                                               abut_decomposition *out);

#ifdef __cplusplus
}
#endif
#endif
