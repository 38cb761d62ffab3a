/* The flat faces of a scene's bodies that may lie flush with another body's: docs/dev/spec.md,
 * section 11.8. */
#ifndef ABUT_SCENE_SEAM_FACES_H
#define ABUT_SCENE_SEAM_FACES_H

#include "body/body.h"
#include "math/rigid.h"
#include "scene/definition.h"

#define SEAM_FACES 6 /* of a body, at most */
#define FACE_SIDES 4 /* of a face: low and high along u, low and high along v */

/* A rectangle of a body: its centre, and its axes n, outwards, u and v, which are right-handed.
 * Where a side is square the body goes on behind it with a flat face at a right angle. */
typedef struct seam_face {
  double centre[3], axes[3][3], half[2];
  bool square[FACE_SIDES];
  double depth; /* how far the body reaches back from the face [m] */
  double flat;  /* how far behind the face the sides beside it are flat [m] */
} seam_face;

/* What a body's faces need: lengths [m] below which the body counts as flat, and in which its field
 * must be. */
typedef struct seam_lengths {
  double flat, within;
} seam_lengths;

/* Finds the faces of a body in its own frame: of a box or a plane by their words, of a height field
 * its walls where the ground is level along them, of a mesh that is a box along its own axes the
 * six sides. Returns how many. */
size_t seam_faces_of(const scene_body *b, const body *loaded, const seam_lengths *lengths,
                     seam_face out[SEAM_FACES]);

/* Returns how far from its edges the field of such a body may be round [m], beside what the
 * smoothing rounds; HUGE_VAL where the field has no flat faces. */
double seam_roundness(const body *loaded);

#endif
