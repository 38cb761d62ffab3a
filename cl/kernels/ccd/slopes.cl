// The derivative of two meshes' time of impact by their poses, at fixed r
// (docs/dev/ccd-formulas.md). By the envelope theorem the first pair's nearest points can be
// treated as fixed on their bodies.

static void ccd_add3(wide to[3], const wide a[3], wide by)
{
  for (int k = 0; k < 3; ++k) {
    to[k] += by * a[k];
  }
}

// The mean of rotations by -angle axis over the motion, which is the transpose of SO(3)'s left
// Jacobian.
static void ccd_mean_back(const wide axis[3], wide angle, const wide z[3], wide to[3])
{
  wide across[3], twice[3];
  const int small = angle < (wide)1e-4;
  const wide by = small ? (wide)1 : angle, halved = wide_sin(by * (wide)0.5);
  const wide first = small ? angle * (wide)0.5 : (wide)2 * halved * halved / by;
  const wide second = small ? angle * angle / (wide)6 : (wide)1 - wide_sin(by) / by;
  ccd_wide_cross(axis, z, across);
  ccd_wide_cross(axis, across, twice);
  for (int k = 0; k < 3; ++k) {
    to[k] = z[k] - first * across[k] + second * twice[k];
  }
}

// Its inverse.
static void ccd_mean_back_inverse(const wide axis[3], wide angle, const wide z[3], wide to[3])
{
  wide across[3], twice[3];
  const int small = angle < (wide)1e-2;
  const wide halved = small ? (wide)0.5 : angle * (wide)0.5;
  const wide series = angle * angle / (wide)12 * ((wide)1 + angle * angle / (wide)60);
  const wide second = small ? series : (wide)1 - halved * wide_cos(halved) / wide_sin(halved);
  ccd_wide_cross(axis, z, across);
  ccd_wide_cross(axis, across, twice);
  for (int k = 0; k < 3; ++k) {
    to[k] = z[k] + angle * (wide)0.5 * across[k] + second * twice[k];
  }
}

static void ccd_turn_back(const wide axis[3], wide angle, const wide z[3], wide to[3])
{
  wide across[3], twice[3];
  const wide sine = wide_sin(angle), halved = wide_sin(angle * (wide)0.5),
             rest = (wide)2 * halved * halved;
  ccd_wide_cross(axis, z, across);
  ccd_wide_cross(axis, across, twice);
  for (int k = 0; k < 3; ++k) {
    to[k] = z[k] - sine * across[k] + rest * twice[k];
  }
}

// Returns n times the velocity of a body's point, and writes n times the derivatives of its
// position by (dx0, w0, dx1, w1).
static wide ccd_body_slopes(const ccd_path *p, wide t, const wide x[3], const wide n[3],
                            wide to[12])
{
  wide rate = (wide)0, arm[2][3], moment[2][3], velocity[3], from_pose[3];
  for (int k = 0; k < 3; ++k) { // moments are about the pose's origin
    from_pose[k] = p->o[k] + (p->arc ? p->c[k] : x[k]);
  }
  if (p->arc) {
    wide y[3], z[3], mean[3], last[3], before[3], spin[3];
    const ccd_moment at = ccd_moment_at(p, t);
    ccd_arm(p, x, arm[0]);
    ccd_turn(p, &at, arm[0], y);
    ccd_wide_cross(p->axis, y, spin);
    for (int k = 0; k < 3; ++k) {
      velocity[k] = p->m[1][k] - p->m[0][k] + p->angle * spin[k];
    }
    ccd_wide_cross(y, n, z);
    ccd_mean_back(p->axis, t * p->angle, z, mean);
    ccd_mean_back_inverse(p->axis, p->angle, mean, last); // K' z is t times this
    ccd_turn_back(p->axis, t * p->angle, z, before);
    ccd_turn_back(p->axis, p->angle, last, mean);
    for (int k = 0; k < 3; ++k) {
      moment[0][k] = before[k] - t * mean[k];
      moment[1][k] = t * last[k];
    }
    for (int e = 0; e < 2; ++e) {
      ccd_rotate(&p->frame[e], from_pose, arm[e]);
      ccd_wide_cross(arm[e], n, z);
      ccd_add3(moment[e], z, e ? t : (wide)1 - t);
    }
  } else {
    for (int e = 0; e < 2; ++e) {
      ccd_rotate(&p->frame[e], from_pose, arm[e]);
      ccd_wide_cross(arm[e], n, moment[e]);
      ccd_move(&p->frame[e], x, arm[e]);
    }
    ccd_wide_sub(arm[1], arm[0], velocity);
    for (int k = 0; k < 3; ++k) {
      moment[0][k] *= (wide)1 - t;
      moment[1][k] *= t;
    }
  }
  for (int k = 0; k < 3; ++k) {
    rate += n[k] * velocity[k];
    to[k] = ((wide)1 - t) * n[k];
    to[3 + k] = moment[0][k];
    to[6 + k] = t * n[k];
    to[9 + k] = moment[1][k];
  }
  return rate;
}

// Writes a mesh's gradient, by twists and by the numbers of both poses.
static void ccd_write_slopes(const ccd_path *p, int row, int width, const wide by[12], wide factor,
                             GLOBAL real *twists, GLOBAL real *from, GLOBAL real *to)
{
  for (int i = 0; i < 12; ++i) {
    ROW(twists, row, 12)[i] = (real)(factor * by[i]);
  }
  for (int e = 0; e < 2; ++e) {
    const wide *m = p->frame[e].m, *force = by + 6 * e, *turn = force + 3;
    wide out[7], own[6];
    for (int k = 0; k < 3; ++k) {
      own[k] = factor * (m[k] * force[0] + m[3 + k] * force[1] + m[6 + k] * force[2]);
      own[3 + k] = factor * (m[k] * turn[0] + m[3 + k] * turn[1] + m[6 + k] * turn[2]);
    }
    pose_adjoint_w(p->number[e], width, make_w(own[0], own[1], own[2]),
                   make_w(own[3], own[4], own[5]), out);
    for (int i = 0; i < width; ++i) {
      ROW(e ? to : from, row, width)[i] = (real)out[i];
    }
  }
}

// A rotation of nearly half a circle may go either way.
#define CCD_HALF_TURN ((wide)3.14159)

// Each work-item handles one row. by1, by2 (count, 12); from1_by and so on (count, width); bars are
// read if `barred` is set.
ADJOINT_KERNEL void ccd_bodies_gradient(
  GLOBAL const int *ints1, GLOBAL const real *numbers1, GLOBAL const int *ints2,
  GLOBAL const real *numbers2, GLOBAL const real *from1, GLOBAL const real *to1,
  GLOBAL const real *from2, GLOBAL const real *to2, int width, int arc, GLOBAL const real *settings,
  int count, GLOBAL const real *toi, GLOBAL unsigned char *status, GLOBAL const int *kind,
  GLOBAL const real *n, GLOBAL const int *places, GLOBAL const real *bars, int barred,
  GLOBAL real *by1, GLOBAL real *by2, GLOBAL real *from1_by, GLOBAL real *to1_by,
  GLOBAL real *from2_by, GLOBAL real *to2_by)
{
  const int row = (int)get_global_id(0);
  if (row >= count) {
    return;
  }
  const int hits = (status[row] & ~CCD_ROUGH) == CCD_HIT, what = hits ? kind[row] : CCD_EDGES;
  const int turned = what == CCD_TRIANGLE_VERTEX;
  ccd_side side[2];
  side[0] = ccd_side_of(ints1, numbers1);
  side[1] = ccd_side_of(ints2, numbers2);
  GLOBAL const real *centres = settings + CCD_BODIES_CENTRES;
  real origin[3];
  ccd_set_path(&side[0].path, ROW(from1, row, width), ROW(to1, row, width), width, arc, centres,
               numbers1);
  ccd_set_path(&side[1].path, ROW(from2, row, width), ROW(to2, row, width), width, arc, centres + 3,
               numbers2);
  ccd_set_origin(&side[0].path, &side[1].path, origin);
  wide by[2][12], factor = (wide)0;
  for (int i = 0; i < 12; ++i) {
    by[0][i] = by[1][i] = (wide)0;
  }
  if (hits) {
    const wide sign = turned ? (wide)-1 : (wide)1;
    const int feature[2] = {ROW(places, row, 2)[0], ROW(places, row, 2)[1]};
    const ccd_found found = ccd_find(side, what, feature, (wide)toi[row]);
    wide given[3], x[2][3] = {{(wide)0, (wide)0, (wide)0}, {(wide)0, (wide)0, (wide)0}}, normal[3],
                   speed = (wide)0;
    for (int k = 0; k < 3; ++k) {
      given[k] = sign * ROW(n, row, 3)[k];
    }
    const ccd_touch touch = ccd_touch_of(&found.c, given);
    for (int i = 0; i < found.c.first + found.c.second; ++i) {
      for (int k = 0; k < 3; ++k) {
        x[found.mesh[i]][k] +=
          touch.weight[i] * side[found.mesh[i]].numbers[CCD_MESH_POINTS + 3 * found.place[i] + k];
      }
    }
    for (int k = 0; k < 3; ++k) {
      normal[k] = sign * touch.n[k];
    }
    const wide rate = ccd_body_slopes(&side[0].path, (wide)toi[row], x[0], normal, by[0]) -
                      ccd_body_slopes(&side[1].path, (wide)toi[row], x[1], normal, by[1]);
    for (int s = 0; s < 2; ++s) {
      const ccd_moment ends[2] = {ccd_moment_at(&side[s].path, (wide)0),
                                  ccd_moment_at(&side[s].path, (wide)1)};
      wide a[3], b[3];
      ccd_point(&side[s].path, &ends[0], x[s], a);
      ccd_point(&side[s].path, &ends[1], x[s], b);
      for (int k = 0; k < 3; ++k) {
        speed = wide_max(speed, wide_abs(b[k] - a[k]));
      }
      wide arm[3];
      ccd_wide_sub(x[s], side[s].path.c, arm);
      speed = wide_max(speed, side[s].path.angle * wide_sqrt(ccd_wide_dot(arm, arm)));
    }
    const int one_way = side[0].path.angle < CCD_HALF_TURN && side[1].path.angle < CCD_HALF_TURN;
    const int smooth = one_way && ccd_closes(&touch, rate, speed);
    factor = smooth ? (wide)-1 / rate : (wide)0;
    status[row] = (unsigned char)(smooth ? CCD_HIT : CCD_HIT | CCD_ROUGH);
  }
  factor *= barred ? (wide)bars[row] : (wide)1;
  ccd_write_slopes(&side[0].path, row, width, by[0], factor, by1, from1_by, to1_by);
  ccd_write_slopes(&side[1].path, row, width, by[1], -factor, by2, from2_by, to2_by);
}
