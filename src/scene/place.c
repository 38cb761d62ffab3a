#include "scene/place.h"

#include "math/rigid.h"
#include <math.h>
#include <string.h>

static rigid rigid_of(const double position[3], const double quaternion[4])
{
  rigid r;
  memcpy(r.t, position, sizeof r.t);
  memcpy(r.q, quaternion, sizeof r.q);
  return r;
}

/* Normalizes a quaternion of any length above 0, even if its squared length would overflow or
 * underflow. */
static void normalise(double q[4])
{
  const double most = fmax(fmax(fabs(q[0]), fabs(q[1])), fmax(fabs(q[2]), fabs(q[3])));
  const double a = q[0] / most, b = q[1] / most, c = q[2] / most, d = q[3] / most;
  const double length = sqrt(a * a + b * b + c * c + d * d);
  for (int k = 0; k < 4; ++k) {
    q[k] = q[k] / most / length;
  }
}

static void put(const rigid *r, double place[PLACE])
{
  memcpy(place, r->t, sizeof r->t);
  memcpy(place + 3, r->q, sizeof r->q);
  normalise(place + 3);
}

/* Returns the rotation of a joint that rotates. */
static rigid turn_of(const joint *j, const double *q)
{
  rigid turn = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
  q += JOINT_MOVES(j->type);
  if (JOINT_HAS_QUATERNION(j->type)) {
    memcpy(turn.q, q, sizeof turn.q);
    normalise(turn.q);
  } else {
    const double sine = sin(0.5 * q[0]);
    turn.q[0] = cos(0.5 * q[0]);
    for (int k = 0; k < 3; ++k) {
      turn.q[1 + k] = sine * j->axis[k];
    }
  }
  return turn;
}

/* Returns a joint's motion of its link, in the frame of the link with the joint at 0. */
static rigid motion_of(const joint *j, const double *q)
{
  rigid motion = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
  if (JOINT_TURNS(j->type)) {
    double turned[3];
    motion = turn_of(j, q);
    rigid_turn(&motion, j->position, turned);
    for (int k = 0; k < 3; ++k) {
      motion.t[k] = j->position[k] - turned[k];
    }
  }
  for (int k = 0; JOINT_MOVES(j->type) && k < 3; ++k) {
    motion.t[k] += j->axis[k] * q[0];
  }
  return motion;
}

void place_link(const scene_link *l, const double *parent, const double *q, double place[PLACE])
{
  if (JOINT_IS_OF_WORLD(l->joint.type)) {
    const rigid at = rigid_of(q, q + 3);
    put(&at, place);
    return;
  }
  const rigid own = rigid_of(l->position, l->quaternion), motion = motion_of(&l->joint, q);
  rigid at = rigid_product(&own, &motion);
  if (parent) {
    const rigid below = rigid_of(parent, parent + 3);
    at = rigid_product(&below, &at);
  }
  put(&at, place);
}

void place_body(const scene_body *b, const double link[PLACE], double place[PLACE])
{
  const rigid of_link = rigid_of(link, link + 3), own = rigid_of(b->position, b->quaternion);
  const rigid at = rigid_product(&of_link, &own);
  put(&at, place);
}

void place_turn(const double place[PLACE], const double x[3], double out[3])
{
  const rigid at = rigid_of(place, place + 3);
  rigid_turn(&at, x, out);
}
