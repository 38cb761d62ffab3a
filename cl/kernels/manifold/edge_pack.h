// Lanes that hold listed edges of several poses. A pose of a pile lists only a few edges, fewer
// than there are lanes. The field is evaluated in its body's own frame, so only the transforms to
// that frame and back differ between poses.
#ifndef KERNELS_MANIFOLD_EDGE_PACK_H
#define KERNELS_MANIFOLD_EDGE_PACK_H

// The listed edge of each lane: its pose, its place in the pose's list, and its index among the
// mesh's edges. Lanes beyond the first `count` repeat the last one.
typedef struct edge_pack {
  int count;
  int pose[LANES], place[LANES], edge[LANES];
} edge_pack;

// Returns the `block`th pack of a group of LANES poses, from their concatenated lists. After the
// last pack the count is 0. `list` is the body's list of pose 0. With `apart` each pose begins a
// new pack.
static edge_pack pack_edges(GLOBAL const int *list, int list_stride, int apart, int group,
                            int poses, int block)
{
  edge_pack k;
  const int end = MIN_INT((group + 1) * LANES, poses);
  int from = -block * LANES; // offset in the pack at which a pose's list begins
  k.count = 0;
  for (int pose = group * LANES; pose < end && from < LANES; ++pose) {
    GLOBAL const int *listed = ROW(list, pose, list_stride);
    const int count = listed[0] / 2;
    for (int i = MAX_INT(-from, 0); i < MIN_INT(count, LANES - from); ++i) {
      k.pose[k.count] = pose;
      k.place[k.count] = i;
      k.edge[k.count++] = listed[1 + 2 * i] / 2;
    }
    from += apart ? (count + LANES - 1) / LANES * LANES : count;
  }
  for (int i = k.count; k.count && i < LANES; ++i) {
    k.pose[i] = k.pose[k.count - 1];
    k.place[i] = k.place[k.count - 1];
    k.edge[i] = k.edge[k.count - 1];
  }
  return k;
}

// Each lane reads the number of its edge from a plane of pose 0; `stride` is the distance to the
// next pose's plane.
static lane packed_part(GLOBAL const real *from, int stride, const edge_pack *k)
{
  real t[LANES];
  for (int i = 0; i < LANES; ++i) {
    t[i] = ROW(from, k->pose[i], stride)[k->edge[i]];
  }
  return lane_load(t);
}

// Each lane writes to its pose's row, at its place in the list; places are `step` apart.
static void store_packed_part(GLOBAL real *p, int stride, int step, const edge_pack *k, lane x)
{
  real t[LANES];
  lane_store(x, t);
  for (int i = 0; i < k->count; ++i) {
    ROW(p, k->pose[i], stride)[step * k->place[i]] = t[i];
  }
}

static void store_packed(GLOBAL real *p, int stride, int step, const edge_pack *k, num x)
{
  PART_DO(i, { store_packed_part(p + i * stride, PARTS * stride, step, k, n_get_part(x, i)); })
}

#define FRAME_REALS 12 // a rotation and a translation

// The frames of the lanes' poses, in parts like numbers.
typedef struct lane_frame {
#if LANES == 1
  GLOBAL const real *at;
#else
  lane m[PARTS][FRAME_REALS];
#endif
} lane_frame;

static lane_frame frame_of_lanes(GLOBAL const real *frames, int which, const edge_pack *k)
{
  lane_frame f;
#if LANES == 1
  f.at = NUMS(frames, k->pose[0], FRAME_STRIDE) + which;
#else
  EACH_PART (part) {
    GLOBAL const real *from = frames + part * FRAME_STRIDE + which;
    real t[FRAME_REALS][LANES];
    for (int i = 0; i < LANES; ++i) {
      GLOBAL const real *row = NUMS(from, k->pose[i], FRAME_STRIDE);
      for (int j = 0; j < FRAME_REALS; ++j) {
        t[j][i] = row[j];
      }
    }
    for (int j = 0; j < FRAME_REALS; ++j) {
      f.m[part][j] = lane_load(t[j]);
    }
  }
#endif
  return f;
}

#if LANES > 1
static vec rotate_lanes(const lane *m, vec a)
{
  return FN(make)(n_tmad(a.x, m[0], n_tmad(a.y, m[1], n_times(a.z, m[2]))),
                  n_tmad(a.x, m[3], n_tmad(a.y, m[4], n_times(a.z, m[5]))),
                  n_tmad(a.x, m[6], n_tmad(a.y, m[7], n_times(a.z, m[8]))));
}

#if TANGENTS
static vec3_r rotate_values(const lane *m, vec a)
{
  return make_r(n_value(a.x) * m[0] + (n_value(a.y) * m[1] + n_value(a.z) * m[2]),
                n_value(a.x) * m[3] + (n_value(a.y) * m[4] + n_value(a.z) * m[5]),
                n_value(a.x) * m[6] + (n_value(a.y) * m[7] + n_value(a.z) * m[8]));
}
#endif
#endif

// turn and place of access.h by each lane's own frame.
static vec turn_lanes(const lane_frame *f, vec a)
{
#if LANES == 1
  return turn(f->at, a);
#else
  vec r = rotate_lanes(f->m[0], a);
  TANGENT_DO(i, { r = moved(r, i, rotate_values(f->m[i], a)); })
  return r;
#endif
}

static vec place_lanes(const lane_frame *f, vec a)
{
#if LANES == 1
  return place(f->at, a);
#else
  vec r = turn_lanes(f, a);
  PART_DO(i, {
    r = FN(make)(n_with_part(r.x, i, n_get_part(r.x, i) + f->m[i][9]),
                 n_with_part(r.y, i, n_get_part(r.y, i) + f->m[i][10]),
                 n_with_part(r.z, i, n_get_part(r.z, i) + f->m[i][11]));
  })
  return r;
#endif
}

#endif
