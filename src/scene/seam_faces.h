/* The flat faces of a scene's bodies that may be flush with another body's: docs/dev/spec.md,
 * section 11.8. */
#ifndef ABUT_SCENE_SEAM_FACES_H
#define ABUT_SCENE_SEAM_FACES_H

#include "body/body.h"
#include "math/rigid.h"
#include "scene/definition.h"

#define SEAM_FACES 6 /* per body, at most */
#define FACE_SIDES 4 /* per face: low and high along u, low and high along v */

/* A rectangular face of a body: its centre and its right-handed axes n (outwards), u and v. At a
 * square side, the adjacent face is flat and at a right angle. */
typedef struct seam_face {
  double centre[3], axes[3][3], half[2];
  bool square[FACE_SIDES];
  double depth; /* depth of the body behind the face [m] */
  double flat;  /* depth behind the face up to which the adjacent sides are flat [m] */
} seam_face;

/* Lengths [m] for finding a body's faces: the body must be flat up to one, and its field within the
 * other. */
typedef struct seam_lengths {
  double flat, within;
} seam_lengths;

/* Finds the faces of a body in its own frame: for a box or a plane from its lengths; for a height
 * field its walls along which the ground is level; for a mesh that is a box along its own axes the
 * six sides. Returns their number. */
size_t seam_faces_of(const scene_body *b, const body *loaded, const seam_lengths *lengths,
                     seam_face out[SEAM_FACES]);

/* Returns the distance from edges within which the field of such a body may be round [m], in
 * addition to the rounding by the smoothing. Returns HUGE_VAL if the field has no flat faces. */
double seam_roundness(const body *loaded);

#endif
