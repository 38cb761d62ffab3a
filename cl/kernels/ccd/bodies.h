// Two meshes between two poses each: what all that a work-item does for a row shares.

typedef struct ccd_side {
  GLOBAL const int *ints;
  GLOBAL const real *numbers;
  GLOBAL real *spots; // (vertices, CCD_SPOT_REALS)
  ccd_path path;
  real low[3], high[3]; // box of all that moves
} ccd_side;

// The first pair to touch, until now.
typedef struct ccd_first {
  real toi, n[3];
  int status, kind, feature[2]; // places among the sorted
} ccd_first;

typedef struct ccd_row {
  ccd_side side[2];
  real separation, keep, tolerance, error;
  int most, candidates;
  // Features of mesh 2 that may meet: boxes in planes of `plane` numbers, boxes of groups of CCD_GROUP, which features.
  GLOBAL real *boxes, *groups;
  GLOBAL int *places, *queue;
  int plane, group_plane, listed;
  int kind;       // of the features at work
  int waits;      // pairs in the queue
  ccd_first first;
} ccd_row;

#define CCD_WINDOWS_MOST 24

static int ccd_vertices(const ccd_side *s) { return s->ints[CCD_MESH_VERTICES]; }

// Corners of a feature of the row's kind, as places of vertices. Returns how many.
static int ccd_corners_of(const ccd_side *s, int corners, int at, int to[3])
{
  if (corners == 1) {
    to[0] = at;
    return 1;
  }
  GLOBAL const int *ends = s->ints + s->ints[corners == 2 ? CCD_MESH_EDGE_ENDS : CCD_MESH_TRIANGLE_ENDS] + corners * at;
  for (int i = 0; i < corners; ++i) {
    to[i] = ends[i];
  }
  return corners;
}

static int ccd_corners_on(int kind, int side)
{
  return kind == CCD_EDGES ? 2 : (kind == CCD_VERTEX_TRIANGLE) == (side == 0) ? 1 : 3;
}

static int ccd_features_on(const ccd_side *s, int corners)
{
  return s->ints[corners == 1 ? CCD_MESH_VERTICES : corners == 2 ? CCD_MESH_EDGES : CCD_MESH_TRIANGLES];
}

static void ccd_box_of(const ccd_side *s, int corners, int at, real low[3], real high[3])
{
  int ends[3];
  ccd_corners_of(s, corners, at, ends);
  for (int k = 0; k < 3; ++k) {
    low[k] = REAL_MOST;
    high[k] = -REAL_MOST;
    for (int i = 0; i < corners; ++i) {
      GLOBAL const real *spot = ROW(s->spots, ends[i], CCD_SPOT_REALS);
      low[k] = real_min(low[k], spot[CCD_SPOT_LOW + k]);
      high[k] = real_max(high[k], spot[CCD_SPOT_HIGH + k]);
    }
  }
}

static int ccd_meets(const real low[3], const real high[3], const ccd_side *s)
{
  return low[0] <= s->high[0] && s->low[0] <= high[0] && low[1] <= s->high[1] && s->low[1] <= high[1] &&
         low[2] <= s->high[2] && s->low[2] <= high[2];
}
