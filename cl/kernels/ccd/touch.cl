// The position of two features of meshes at a time, and the exact time at which they touch, in wide
// numbers.

// A pair of features at a time. The vertex comes before the triangle, whichever mesh it belongs to.
typedef struct ccd_found {
  ccd_corners c;
  int place[4], mesh[4]; // of each corner: its index in the sorted order, and its mesh
} ccd_found;

static ccd_found ccd_find(const ccd_side side[2], int kind, const int feature[2], wide time)
{
  ccd_found f;
  const int head = kind == CCD_TRIANGLE_VERTEX;
  f.c.first = ccd_corners_on(kind, head);
  f.c.second = ccd_corners_on(kind, !head);
  f.c.size = (wide)0;
  for (int part = 0, at = 0; part < 2; ++part) {
    const int which = part ? !head : head;
    const ccd_side *s = &side[which];
    const ccd_moment m = ccd_moment_at(&s->path, time);
    int corner[3];
    const int count = ccd_corners_of(s, ccd_corners_on(kind, which), feature[which], corner);
    for (int i = 0; i < count; ++i, ++at) {
      wide x[3];
      for (int k = 0; k < 3; ++k) {
        const wide moved = wide_max(wide_abs(s->path.number[0][k]), wide_abs(s->path.number[1][k]));
        const wide far = (wide_abs(s->path.o[k]) + moved) * (wide)(WIDE_EPSILON / REAL_EPSILON);
        x[k] = s->numbers[CCD_MESH_POINTS + 3 * corner[i] + k];
        f.c.size = wide_max(f.c.size, wide_max(wide_abs(x[k]), far));
      }
      f.place[at] = corner[i];
      f.mesh[at] = which;
      ccd_point(&s->path, &m, x, f.c.x[at]);
      for (int k = 0; k < 3; ++k) {
        f.c.size = wide_max(f.c.size, wide_abs(f.c.x[at][k]));
      }
    }
  }
  return f;
}

// The velocity of a vertex.
static void ccd_velocity(const ccd_path *p, const ccd_moment *at, const wide x[3], wide to[3])
{
  if (p->arc) {
    wide y[3], turned[3], spin[3];
    ccd_arm(p, x, y);
    ccd_turn(p, at, y, turned);
    ccd_wide_cross(p->axis, turned, spin);
    for (int k = 0; k < 3; ++k) {
      to[k] = p->m[1][k] - p->m[0][k] + p->angle * spin[k];
    }
    return;
  }
  wide a[3], b[3];
  ccd_move(&p->frame[0], x, a);
  ccd_move(&p->frame[1], x, b);
  ccd_wide_sub(b, a, to);
}

// Returns the rate of the distance of two features; writes the greatest speed of a vertex.
static wide ccd_rate(const ccd_side side[2], const ccd_found *f, const ccd_touch *touch, wide time,
                     wide *speed)
{
  const ccd_moment at[2] = {ccd_moment_at(&side[0].path, time), ccd_moment_at(&side[1].path, time)};
  wide rate = (wide)0;
  *speed = (wide)0;
  for (int i = 0; i < f->c.first + f->c.second; ++i) {
    const ccd_side *s = &side[f->mesh[i]];
    const wide sign = i < f->c.first ? touch->weight[i] : -touch->weight[i];
    wide x[3], v[3];
    for (int k = 0; k < 3; ++k) {
      x[k] = s->numbers[CCD_MESH_POINTS + 3 * f->place[i] + k];
    }
    ccd_velocity(&s->path, &at[f->mesh[i]], x, v);
    for (int k = 0; k < 3; ++k) {
      rate += sign * touch->n[k] * v[k];
      *speed = wide_max(*speed, wide_abs(v[k]));
    }
  }
  return rate;
}

#define CCD_EXACT_MOST 8

// Returns the time at which features are r apart, to rounding, by Newton's method starting at a
// certified time. The certified time is early by an amount that depends on its windows and
// iterations. If the distance does not fall to r, the nearest time on the way is returned.
static real ccd_exact_time(const ccd_side side[2], int kind, const int feature[2], real early,
                           wide r, const wide given[3])
{
  wide time = (wide)early, best = time, least = (wide)REAL_MOST;
  for (int i = 0; i < CCD_EXACT_MOST; ++i) {
    const ccd_found f = ccd_find(side, kind, feature, time);
    const ccd_touch touch = ccd_touch_of(&f.c, given);
    const wide above = touch.distance - r;
    wide speed;
    if (!(wide_abs(above) < least)) {
      break;
    }
    least = wide_abs(above);
    best = time;
    const wide rate = ccd_rate(side, &f, &touch, time, &speed);
    time -= above / rate;
    if (!ccd_closes(&touch, rate, speed) || !(time >= (wide)0 && time <= (wide)1)) {
      break;
    }
  }
  return (real)best;
}
