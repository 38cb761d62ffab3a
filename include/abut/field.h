/* Fields of meshes: a signed distance field and a contact mesh, made from any triangle mesh, so
 * that bodies need no primitives fitted by hand.
 *
 * No device is used. The result is a definition for abut_create_body. Nothing is printed;
 * abut_field_report holds the warnings.
 */
#ifndef ABUT_FIELD_H
#define ABUT_FIELD_H

#include <abut/body.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct abut_field_options {
  uint32_t cells;    /* cells of the coarse grid along the box's longest side, 8 to 128; 0: 32,
                        or 64 if 5 % of the surface would be off by more than 0.3 % of the
                        diagonal. Finer cells are added where they are needed */
  double tolerance;  /* error of the field, as a share of the box's diagonal, above which finer
                        cells are added over the surface, 1e-5 to 0.1; 0: 0.0015 */
  uint32_t vertices; /* approximate number of vertices of the contact mesh, 8 to 2^24; 0: 1,000;
                        UINT32_MAX: all of the mesh's own */
  size_t memory;     /* largest memory of the field on a device in float [bytes]; if it is too
                        small, finer cells get a higher tolerance. The coarse grid is always
                        made. 0: 256 MiB */
  /* Called between steps with the current step and the finished share of the whole. Returning
     false stops the call with ABUT_ERROR_CANCELLED. May be NULL. */
  bool (*progress)(void *user, const char *what, double share);
  void *user;
  /* Only for abut_load_field: */
  double scale;    /* the file's unit of length [m], 1e-9 to 1e9; 0: 1 */
  bool no_cache;   /* make the field anew, and do not store it in the cache */
  uint32_t cookie; /* set by abut_default_field_options */
} abut_field_options;

ABUT_API abut_field_options abut_default_field_options(void);

/* Suspicions about a mesh or its field: bits of abut_field_report.suspicions. */
typedef enum abut_suspicion {
  ABUT_SUSPECT_OPEN = 1,         /* holes were closed, or open edges remain */
  ABUT_SUSPECT_INSIDE_OUT = 2,   /* shells were inside out and have been turned */
  ABUT_SUSPECT_TURNED = 4,       /* single faces were oriented against their neighbours and have
                                    been turned */
  ABUT_SUSPECT_TANGLED = 8,      /* edges of more than two faces, or faces without a consistent
                                    orientation */
  ABUT_SUSPECT_UNIT = 16,        /* so large that it looks like millimetres */
  ABUT_SUSPECT_SMALL = 32,       /* so small that no smoothing fits it, and evaluation is refused */
  ABUT_SUSPECT_COARSE = 64,      /* the field's error is larger than the tolerance */
  ABUT_SUSPECT_THIN = 128,       /* parts are too thin for the field to be negative inside */
  ABUT_SUSPECT_NESTED = 256,     /* shells are inside others with the same orientation: they are
                                    not cavities */
  ABUT_SUSPECT_SHEET = 512,      /* faces without a back, such as an inner wall, enclose nothing */
  ABUT_SUSPECT_MISFIT = 1024,    /* of a body file: its mesh is far from its field's surface */
  ABUT_SUSPECT_FEATURES = 2048,  /* of a body file: a stated feature with its radius is off the
                                    field's surface */
  ABUT_SUSPECT_WELDED = 4096,    /* corners farther apart than rounding were welded */
  ABUT_SUSPECT_CLOSING = 8192,   /* the faces that close holes have moved the inside, by winding
                                    numbers */
  ABUT_SUSPECT_TRAILING = 16384, /* the file continues after the mesh's end; the rest was ignored */
  ABUT_SUSPECT_NARROW = 32768    /* gaps are too narrow for the field to be positive in them */
} abut_suspicion;

/* Errors are shares of the diagonal, and are of the field at points spread over the mesh's
 * faces. */
typedef struct abut_field_report {
  uint32_t suspicions; /* bits of abut_suspicion */
  size_t faces;        /* before repair */
  size_t welded;       /* vertices that were replaced by another one at the same place */
  size_t repeated;     /* faces that repeat another face */
  size_t turned;       /* triangles turned to agree with their neighbours */
  size_t shells, shells_turned;
  size_t holes, open_edges; /* holes closed; edges that remain open */
  double hole_widest;       /* [m] */
  size_t sheets;            /* shells that enclose nothing, with or without boundary edges */
  double sheet_widest;      /* [m] */
  double welded_within;     /* [m] largest distance between corners that were welded, beyond
                               rounding */
  double closing_doubt;     /* share of the inside that the faces closing the holes have moved,
                               by winding numbers; 0: little */
  size_t shells_nested;     /* shells inside others with the same orientation */
  size_t tangled_edges;
  double diagonal;        /* of the mesh's box [m] */
  double volume;          /* [m^3] of the solid; overlaps of shells count once */
  uint32_t cells, levels; /* cells along the coarse grid's longest side; number of finer grids */
  size_t blocks;          /* of 8 x 8 x 8 cells, of all levels */
  size_t bytes;           /* size of the field on a device, in float */
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

/* Gets the report of the mesh that a body was loaded from. For a bare mesh it is the report of the
 * field. For a body file it has suspicions, misfits, diagonal and trailing bytes. It is 0 for other
 * bodies. Error: ABUT_ERROR_ARGUMENT. */
ABUT_API abut_status abut_get_body_report(abut_body body, abut_field_report *report);

/* Writes the text of one suspicion of a report: its name, the figures, and what to do about it, as
 * "open: 2 holes were closed, the widest 0.12 m; ...". Writes at most `room` bytes, including a
 * final zero, and returns the length of the whole text; 0 if the report does not have this
 * suspicion. */
ABUT_API size_t abut_suspicion_text(const abut_field_report *report, abut_suspicion which,
                                    char *text, size_t room);

/* A field and a report on how it was made. `def` points into the field. */
typedef struct abut_field {
  abut_body_def def; /* the contact mesh, one grid, and the mesh's own surface (with vertices at
                        the same place welded), for abut_create_body */
  abut_field_report report;
  void *memory;
} abut_field;

/* Makes a field from the vertices and faces of `mesh`; its other members are ignored.
 *
 * Vertices at the same place are welded, repeated faces are left out, and faces are turned to agree
 * with their neighbours. Holes are closed, and shells that are inside out are turned. The distance
 * to the repaired mesh is exact at the nodes of a cubic B-spline. Its sign is that of the
 * generalized winding number, so that shells may overlap. Blocks of finer cells are added where the
 * spline is off the mesh by more than the tolerance. The same mesh and options give the same field
 * to the bit.
 *
 * Errors: ABUT_ERROR_BODY (out of range, no face with an area, encloses nothing),
 * ABUT_ERROR_ARGUMENT, ABUT_ERROR_MEMORY, ABUT_ERROR_CANCELLED.
 */
ABUT_API abut_status abut_make_field(const abut_body_def *mesh, const abut_field_options *options,
                                     abut_field *field);
ABUT_API void abut_free_field(abut_field *field);

#ifdef __cplusplus
}
#endif
#endif
