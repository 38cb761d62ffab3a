/* Fields of meshes: a signed distance field and a contact mesh made of any triangle mesh, so that
 * bodies need no primitives fitted by hand.
 *
 * No device takes part: what is made here is a definition for abut_create_body. Nothing is printed;
 * what a caller should know is in abut_field_report.
 */
#ifndef ABUT_FIELD_H
#define ABUT_FIELD_H

#include <abut/body.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct abut_field_options {
  uint32_t cells;    /* of the coarse grid along the box's longest side, 8 to 128; 0: 32,
                        or 64 where 5 % of the surface would be off by more than 0.3 % of the
                        diagonal; finer cells follow where they are needed */
  double tolerance;  /* error of the field, as a share of the box's diagonal, above which finer
                        cells are laid over the surface, 1e-5 to 0.1; 0: 0.0015 */
  uint32_t vertices; /* of the contact mesh, about, 8 to 2^24; 0: 1,000; UINT32_MAX: all of the
                        mesh's own */
  size_t memory;     /* that a device may keep of it in float [bytes], finer cells with a higher
                        tolerance where it is less; the coarse grid is made in any case; 0:
                        256 MiB */
  /* Told between steps what is done and which share of the whole; false ends it there with
     ABUT_ERROR_CANCELLED. May be NULL. */
  bool (*progress)(void *user, const char *what, double share);
  void *user;
  /* Of abut_load_field alone. */
  double scale;    /* the file's unit of length [m], 1e-9 to 1e9; 0: 1 */
  bool no_cache;   /* make the field anew, and keep nothing of it */
  uint32_t cookie; /* set by abut_default_field_options */
} abut_field_options;

ABUT_API abut_field_options abut_default_field_options(void);

/* What is suspicious about a mesh or its field: bits of abut_field_report.suspicions. */
typedef enum abut_suspicion {
  ABUT_SUSPECT_OPEN = 1,        /* holes were closed, or open edges are left */
  ABUT_SUSPECT_INSIDE_OUT = 2,  /* shells were inside out and have been turned */
  ABUT_SUSPECT_TURNED = 4,      /* single faces ran against their neighbours and have been turned */
  ABUT_SUSPECT_TANGLED = 8,     /* edges of more than two faces, or that no orientation suits */
  ABUT_SUSPECT_UNIT = 16,       /* so large that it looks like millimetres */
  ABUT_SUSPECT_SMALL = 32,      /* so small that no smoothing fits it, and evaluation is refused */
  ABUT_SUSPECT_COARSE = 64,     /* the field is farther off than the tolerance asks */
  ABUT_SUSPECT_THIN = 128,      /* parts are too thin for the field to be negative inside */
  ABUT_SUSPECT_NESTED = 256,    /* shells lie within others, turned as these are: no cavities */
  ABUT_SUSPECT_SHEET = 512,     /* faces without a back, such as a wall inside, enclose nothing */
  ABUT_SUSPECT_MISFIT = 1024,   /* of a body file: its mesh lies nowhere near its field's surface */
  ABUT_SUSPECT_FEATURES = 2048, /* of a body file: a stated feature with its radius is off the
                                   field's surface */
  ABUT_SUSPECT_WELDED = 4096,   /* corners that are apart by more than rounding became one */
  ABUT_SUSPECT_CLOSING = 8192,  /* what closes the holes has moved the inside, by winding numbers */
  ABUT_SUSPECT_TRAILING = 16384, /* the file goes on behind the mesh's end; that was left out */
  ABUT_SUSPECT_NARROW = 32768    /* gaps are too narrow for the field to be positive in them */
} abut_suspicion;

/* Errors are shares of the diagonal, of the field at points spread over the mesh's faces. */
typedef struct abut_field_report {
  uint32_t suspicions; /* bits of abut_suspicion */
  size_t faces;        /* as read */
  size_t welded;       /* vertices that another one at their place stands for */
  size_t repeated;     /* faces that were there already */
  size_t turned;       /* triangles turned to suit their neighbours */
  size_t shells, shells_turned;
  size_t holes, open_edges; /* closed; left open */
  double hole_widest;       /* [m] */
  size_t sheets;            /* shells that enclose nothing, with or without rims */
  double sheet_widest;      /* [m] */
  double welded_within;     /* [m] how far apart corners were that became one, beyond rounding */
  double closing_doubt;     /* of the inside, the share that what closes the holes has moved, by
                               winding numbers; 0: little */
  size_t shells_nested;     /* within others, and turned as these are */
  size_t tangled_edges;
  double diagonal;        /* of the mesh's box [m] */
  double volume;          /* [m^3] of the solid, where shells overlap counted once */
  uint32_t cells, levels; /* of the coarse grid's longest side; finer grids above it */
  size_t blocks;          /* of 8 x 8 x 8 cells, of all levels */
  size_t bytes;           /* of the field on a device, in float */
  double spacing, finest; /* of the coarse and of the finest grid [m] */
  double face_median, face_95, face_most; /* error away from sharp edges */
  double edge_95, edge_most;              /* error at sharp edges */
  double thin_share, thin_lost; /* of the area: thinner than four tolerances, of which the field is
                                   not negative inside */
  size_t vertices, edges;       /* of the contact mesh */
  size_t merged;                /* triangles that lie in one plane with a neighbour */
  size_t thinned, added;        /* vertices left out; vertices put on long faces */
  bool kept;                    /* it came from the cache */
  double lost_thickness, lost_error; /* of the thin parts that are lost: medians by area of their
                                   thickness and of the field's error there [m]; 0: none are */
  double misfit;         /* of abut_body_info; 0 where a field is made of the mesh itself */
  double feature_misfit; /* of abut_body_info, likewise */
  size_t trailing;       /* bytes behind the end of the mesh in its file, which were left out */
  double gap_filled, gap_width; /* of the area: faces gaps narrower than four tolerances in which
                                   the field is not positive; the median by area of the width of
                                   these [m]; 0: there are none */
} abut_field_report;

/* The report of the mesh that a body was loaded from: of a bare mesh that of its field, of a body
 * file its suspicions, misfits, diagonal and trailing bytes. 0 of other bodies. Error:
 * ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_get_body_report(abut_body body, abut_field_report *report);

/* One suspicion of a report: its name, the figures, and what to do about it, as
 * "open: 2 holes were closed, the widest 0.12 m; ...". Writes at most `room` bytes, a zero among
 * them, and returns how long the whole text is; 0 where the report does not have this suspicion. */
ABUT_API size_t abut_suspicion_text(const abut_field_report *report, abut_suspicion which,
                                    char *text, size_t room);

/* A field and what it was made with. `def` points into it. */
typedef struct abut_field {
  abut_body_def def; /* the contact mesh, one grid, and the mesh's own surface (vertices
                        at one place are one), for abut_create_body */
  abut_field_report report;
  void *memory;
} abut_field;

/* Makes a field of a mesh: the vertices and faces of `mesh`; all else in it is left aside.
 *
 * Vertices at one place are welded, repeated faces left out, faces turned to agree with their
 * neighbours, holes closed, and shells that are inside out turned. The distance to what results is
 * exact at the nodes of a cubic B-spline, its sign that of the generalized winding number, so that
 * shells may overlap. Blocks of finer cells follow where the spline is off the mesh by more than
 * the tolerance. The same mesh and options give the same field to the bit.
 *
 * Errors: ABUT_ERROR_BODY (out of range, no face of any area, encloses nothing),
 * ABUT_ERROR_ARGUMENT, ABUT_ERROR_MEMORY, ABUT_ERROR_CANCELLED.
 */
ABUT_API abut_status abut_make_field(const abut_body_def *mesh, const abut_field_options *options,
                                     abut_field *field);
ABUT_API void abut_free_field(abut_field *field);

#ifdef __cplusplus
}
#endif
#endif
