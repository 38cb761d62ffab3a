#include "scene/motion.h"

#include "math/vector.h"
#include <string.h>

/* A link's joint in the current state. */
typedef struct joint_at {
  int type, dof, parent;
  double axis[3]; /* in the world's axes, if the joint has one */
  double arm[3];  /* from the joint's centre of rotation to the link's origin */
} joint_at;

static joint_at joint_of(const scene_def *s, const scene_constants *c,
                         const double (*places)[PLACE], int link)
{
  const scene_link *l = &s->links[link];
  joint_at j = {.type = (int)l->joint.type, .dof = c->vadr[link], .parent = l->parent};
  if (JOINT_IS_OF_WORLD(j.type)) {
    j.parent = WORLD;
  } else {
    double position[3];
    place_turn(places[link], l->joint.axis, j.axis);
    place_turn(places[link], l->joint.position, position);
    for (int k = 0; k < 3; ++k) {
      j.arm[k] = -position[k];
    }
  }
  return j;
}

/* Rotates a direction from the world's axes to those of the place. */
static void turn_back(const double place[PLACE], const double x[3], double out[3])
{
  const double back[PLACE] = {0.0, 0.0, 0.0, place[3], -place[4], -place[5], -place[6]};
  place_turn(back, x, out);
}

int motion_pull(const scene_def *s, const scene_constants *c, const double (*places)[PLACE],
                int link, double wrench[6], double *d)
{
  const joint_at j = joint_of(s, c, places, link);
  double moment[3], more[3];
  int dof = j.dof;
  cross(j.arm, wrench, more);
  for (int k = 0; k < 3; ++k) {
    moment[k] = wrench[3 + k] + more[k];
  }
  for (int k = 0; JOINT_IS_OF_WORLD(j.type) && k < 3; ++k) {
    d[dof++] += wrench[k];
  }
  if (!JOINT_IS_OF_WORLD(j.type) && JOINT_MOVES(j.type)) {
    d[dof++] += dot(j.axis, wrench);
  }
  if (JOINT_HAS_QUATERNION(j.type)) {
    turn_back(places[link], moment, moment);
    for (int k = 0; k < 3; ++k) {
      d[dof + k] += moment[k];
    }
  } else if (JOINT_TURNS(j.type)) {
    d[dof] += dot(j.axis, moment);
  }
  if (j.parent != WORLD) {
    double way[3];
    difference(places[link], places[j.parent], way);
    cross(way, wrench, more);
    for (int k = 0; k < 3; ++k) {
      wrench[3 + k] += more[k];
    }
  }
  return j.parent;
}

void motion_twist(const scene_def *s, const scene_constants *c, const double (*places)[PLACE],
                  const double *d, int link, double (*twists)[6])
{
  const joint_at j = joint_of(s, c, places, link);
  double *twist = twists[link], turn[3] = {0.0, 0.0, 0.0}, more[3];
  int dof = j.dof;
  memset(twist, 0, sizeof *twists);
  if (j.parent != WORLD) {
    double way[3];
    memcpy(twist, twists[j.parent], sizeof *twists);
    difference(places[link], places[j.parent], way);
    cross(twist + 3, way, more);
    for (int k = 0; k < 3; ++k) {
      twist[k] += more[k];
    }
  }
  for (int k = 0; JOINT_IS_OF_WORLD(j.type) && k < 3; ++k) {
    twist[k] += d[dof++];
  }
  if (!JOINT_IS_OF_WORLD(j.type) && JOINT_MOVES(j.type)) {
    for (int k = 0; k < 3; ++k) {
      twist[k] += j.axis[k] * d[dof];
    }
    ++dof;
  }
  if (JOINT_HAS_QUATERNION(j.type)) {
    place_turn(places[link], d + dof, turn);
  } else if (JOINT_TURNS(j.type)) {
    for (int k = 0; k < 3; ++k) {
      turn[k] = j.axis[k] * d[dof];
    }
  }
  cross(turn, j.arm, more);
  for (int k = 0; k < 3; ++k) {
    twist[k] += more[k];
    twist[3 + k] += turn[k];
  }
}

void motion_rates(const double place[PLACE], const double twist[6], double rates[PLACE])
{
  const double *q = place + 3, *w = twist + 3;
  double across[3];
  memcpy(rates, twist, 3 * sizeof *rates);
  cross(w, q + 1, across);
  rates[3] = -0.5 * dot(w, q + 1);
  for (int k = 0; k < 3; ++k) {
    rates[4 + k] = 0.5 * (q[0] * w[k] + across[k]);
  }
}

void motion_wrench(const double place[PLACE], const double bar[PLACE], double wrench[6])
{
  const double *q = place + 3, *b = bar + 3;
  double across[3];
  memcpy(wrench, bar, 3 * sizeof *wrench);
  cross(q + 1, b + 1, across);
  for (int k = 0; k < 3; ++k) {
    wrench[3 + k] = 0.5 * (q[0] * b[1 + k] - b[0] * q[1 + k] + across[k]);
  }
}
