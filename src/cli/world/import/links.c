/* Bodies and joints as links. MuJoCo lets a joint's number be other than 0 where bodies stand as
 * the model says (`ref`); such links stand where that joint is at 0, so that positions keep their
 * numbers. */
#include "world/import/import.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rotations ---- */

static void multiply_quaternions(const double a[4], const double b[4], double out[4])
{
  out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
  out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
  out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
  out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

static void matrix_of(const double q[4], double r[9])
{
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double s = 2.0 / (w * w + x * x + y * y + z * z);
  const double out[9] = {1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y),
                         s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x),
                         s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)};
  memcpy(r, out, sizeof out);
}

/* to += sign * R(q) v */
static void add_rotated(const double q[4], const double v[3], double sign, double to[3])
{
  double r[9];
  matrix_of(q, r);
  for (int i = 0; i < 3; ++i) {
    to[i] += sign * (r[3 * i] * v[0] + r[3 * i + 1] * v[1] + r[3 * i + 2] * v[2]);
  }
}

/* ---- frames ---- */

typedef struct frame {
  double position[3], quaternion[4];
} frame;

/* Where the joint's link stands at 0, if it stands at `f` at `reference`. */
static void move_to_zero(const import *im, int joint, double reference, frame *f)
{
  const double *axis = im->m->jnt_axis + 3 * joint, *anchor = im->m->jnt_pos + 3 * joint;
  if (im->m->jnt_type[joint] == mjJNT_SLIDE) {
    add_rotated(f->quaternion, axis, -reference, f->position);
    return;
  }
  const double s = -sin(0.5 * reference);
  const double turn[4] = {cos(0.5 * reference), s * axis[0], s * axis[1], s * axis[2]};
  double turned[4];
  multiply_quaternions(f->quaternion, turn, turned);
  add_rotated(f->quaternion, anchor, 1.0, f->position);
  add_rotated(turned, anchor, -1.0, f->position);
  memcpy(f->quaternion, turned, sizeof turned);
}

static bool is_single(const import *im, int joint)
{
  const int type = im->m->jnt_type[joint];
  return type == mjJNT_SLIDE || type == mjJNT_HINGE;
}

static void write_frame(import *im, int body, int k)
{
  const mjModel *m = im->m;
  frame f = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
  const frame none = f;
  if (k == 0) {
    memcpy(f.position, m->body_pos + 3 * body, sizeof f.position);
    memcpy(f.quaternion, m->body_quat + 4 * body, sizeof f.quaternion);
  }
  const int joint = m->body_jntadr[body] + k;
  if (m->body_jntnum[body] > 0 && is_single(im, joint)) {
    const double reference = m->qpos0[m->jnt_qposadr[joint]];
    if (any_of(&reference, 1)) {
      move_to_zero(im, joint, reference, &f);
      left_out(im, "joint", mjOBJ_JOINT, joint,
               "ref %g stays in q, but approximate weights of rows are those at q = 0", reference);
    }
  }
  if (differ(f.position, none.position, 3)) {
    json_put_reals(&im->json, "position", f.position, 3);
  }
  if (differ(f.quaternion, none.quaternion, 4)) {
    json_put_reals(&im->json, "quaternion", f.quaternion, 4);
  }
}

/* ---- mass ---- */

static void write_mass(import *im, int body)
{
  const mjModel *m = im->m;
  const double *moments = m->body_inertia + 3 * body;
  double r[9], inertia[9];
  if (!any_of(m->body_mass + body, 1) && !any_of(moments, 3)) {
    return;
  }
  matrix_of(m->body_iquat + 4 * body, r);
  for (int i = 0; i < 3; ++i) {
    for (int k = i; k < 3; ++k) {
      double sum = 0.0;
      for (int e = 0; e < 3; ++e) {
        sum += r[3 * i + e] * moments[e] * r[3 * k + e];
      }
      inertia[3 * i + k] = inertia[3 * k + i] = sum;
    }
  }
  json_put_real(&im->json, "mass", m->body_mass[body]);
  if (any_of(m->body_ipos + 3 * body, 3)) {
    json_put_reals(&im->json, "com", m->body_ipos + 3 * body, 3);
  }
  json_open(&im->json, "inertia", '[');
  for (int i = 0; i < 3; ++i) {
    json_put_reals(&im->json, NULL, inertia + 3 * i, 3);
  }
  json_close(&im->json, ']');
}

/* ---- joints ---- */

static void put_unless_0(import *im, const char *key, double x)
{
  if (any_of(&x, 1)) {
    json_put_real(&im->json, key, x);
  }
}

static void write_spring(import *im, int joint)
{
  const mjModel *m = im->m;
  const double stiffness = springs_are_off(m) ? 0.0 : m->jnt_stiffness[joint];
  if (!any_of(m->jnt_stiffness + joint, 1) || springs_are_off(m)) {
    return;
  }
  if (m->jnt_type[joint] == mjJNT_FREE) {
    left_out(im, "joint", mjOBJ_JOINT, joint, "a free joint's spring is left out");
    return;
  }
  json_put_real(&im->json, "stiffness", stiffness);
  if (is_single(im, joint)) {
    put_unless_0(im, "rest", m->qpos_spring[m->jnt_qposadr[joint]]);
  }
}

/* A limit's margin, within which it presses, moves the limit. */
static void write_limits(import *im, int joint)
{
  const mjModel *m = im->m;
  const double *range = m->jnt_range + 2 * joint, margin = m->jnt_margin[joint];
  double limits[2] = {range[0] + margin, range[1] - margin};
  double solref[2];
  if (!m->jnt_limited[joint] || is_off(im, mjDSBL_LIMIT)) {
    return;
  }
  if (!is_single(im, joint)) {
    left_out(im, "joint", mjOBJ_JOINT, joint, "a ball's limit is left out");
    return;
  }
  if (!(limits[0] < limits[1])) {
    left_out(im, "joint", mjOBJ_JOINT, joint, "the limits' margin is as wide as they are, and is "
             "left out");
    memcpy(limits, range, sizeof limits);
  }
  if (!(limits[0] < limits[1])) {
    left_out(im, "joint", mjOBJ_JOINT, joint, "limits without room between are left out");
    return;
  }
  if (!finite_range(limits)) {
    return;
  }
  memcpy(solref, m->jnt_solref + mjNREF * joint, sizeof solref);
  check_solref(im, "joint", mjOBJ_JOINT, joint, solref);
  json_put_reals(&im->json, "limits", limits, 2);
  write_softness(im, "solref_limit", "solimp_limit", solref, m->jnt_solimp + mjNIMP * joint);
}

static void write_friction(import *im, int joint)
{
  const mjModel *m = im->m;
  const int dof = m->jnt_dofadr[joint];
  double solref[2];
  if (!any_of(m->dof_frictionloss + dof, 1) || is_off(im, mjDSBL_FRICTIONLOSS)) {
    return;
  }
  memcpy(solref, m->dof_solref + mjNREF * dof, sizeof solref);
  check_solref(im, "joint", mjOBJ_JOINT, joint, solref);
  json_put_real(&im->json, "frictionloss", m->dof_frictionloss[dof]);
  write_softness(im, "solref_friction", "solimp_friction", solref, m->dof_solimp + mjNIMP * dof);
}

static void write_joint(import *im, int joint)
{
  static const char *const types[] = {"free", "ball", "slide", "hinge"};
  const mjModel *m = im->m;
  json_lines *j = &im->json;
  const int type = m->jnt_type[joint], dof = m->jnt_dofadr[joint];
  json_open(j, "joint", '{');
  json_put_text(j, "type", types[type]);
  if (type != mjJNT_FREE && any_of(m->jnt_pos + 3 * joint, 3)) {
    json_put_reals(j, "position", m->jnt_pos + 3 * joint, 3);
  }
  if (is_single(im, joint)) {
    json_put_reals(j, "axis", m->jnt_axis + 3 * joint, 3);
  }
  put_unless_0(im, "damping", dampers_are_off(m) ? 0.0 : m->dof_damping[dof]);
  put_unless_0(im, "armature", m->dof_armature[dof]);
  write_spring(im, joint);
  write_limits(im, joint);
  write_friction(im, joint);
  json_close(j, '}');
  if (has_nonlinear_spring(m, joint) && !springs_are_off(m)) {
    left_out(im, "joint", mjOBJ_JOINT, joint, "its spring is linear in the scene");
  }
  if (has_nonlinear_damper(m, dof) && !dampers_are_off(m)) {
    left_out(im, "joint", mjOBJ_JOINT, joint, "its damping is linear in the scene");
  }
}

/* ---- links ---- */

/* Of a body's links the last has its name; those before are named after their joints, too. */
static void write_name(import *im, int body, int k)
{
  const mjModel *m = im->m;
  const char *name = m->names + m->name_bodyadr[body];
  const int joint = m->body_jntadr[body] + k;
  if (!*name) {
    return;
  }
  if (k + 1 >= m->body_jntnum[body]) {
    json_put_text(&im->json, "name", name);
    return;
  }
  const char *of_joint = m->names + m->name_jntadr[joint];
  const size_t room = strlen(name) + strlen(of_joint) + 32;
  char *text = malloc(room);
  im->json.bad = im->json.bad || !text;
  if (text && *of_joint) {
    snprintf(text, room, "%s/%s", name, of_joint);
  } else if (text) {
    snprintf(text, room, "%s/%d", name, k);
  }
  if (text) {
    json_put_text(&im->json, "name", text);
  }
  free(text);
}

static void write_link(import *im, int body, int k)
{
  const mjModel *m = im->m;
  json_lines *j = &im->json;
  const bool last = k + 1 >= m->body_jntnum[body];
  const int parent = k ? im->first_link[body] + k - 1 : im->last_link[m->body_parentid[body]];
  json_line(j, 1);
  json_open(j, NULL, '{');
  write_name(im, body, k);
  /* The world's own link does not move: what hangs on it may hang on the world, as free joints
   * must. */
  json_put_whole(j, "parent", k == 0 && m->body_parentid[body] == 0 ? -1 : parent);
  write_frame(im, body, k);
  if (m->body_jntnum[body] > 0) {
    write_joint(im, m->body_jntadr[body] + k);
  }
  if (last) {
    write_mass(im, body);
    write_bodies(im, body);
  }
  json_close(j, '}');
}

static void write_world(import *im)
{
  json_line(&im->json, 1);
  json_open(&im->json, NULL, '{');
  json_put_text(&im->json, "name", "world");
  write_bodies(im, 0);
  json_close(&im->json, '}');
}

void write_links(import *im)
{
  const mjModel *m = im->m;
  json_line(&im->json, 0);
  json_open(&im->json, "links", '[');
  if (im->last_link[0] >= 0) {
    write_world(im);
  }
  for (int b = 1; b < m->nbody; ++b) {
    const int links = m->body_jntnum[b] > 1 ? m->body_jntnum[b] : 1;
    for (int k = 0; k < links; ++k) {
      write_link(im, b, k);
    }
  }
  json_close(&im->json, ']');
}
