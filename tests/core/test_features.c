/* Features of bodies and their cones, against closed forms and the reference for cones. Where
 * memory runs out nothing is left behind. */
#include "body/cut.h"
#include "body/feature_check.h"
#include "body/features.h"
#include "support/allocations.h"
#include "support/check.h"
#include "scene/body_shapes.h"
#include "scene/word_features.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define DEGREE (PI / 180.0)
#define EXACT 1e-12   /* of closed forms in double */
#define WRITTEN 1e-14 /* of numbers with 15 digits */

static abut_context on_host;

/* An irregular mesh with a face missing, and its cones by the reference (cones_reference.py, `make`
 * with an angle of 20 degrees). */
static const double irregular[12][3] = {{-0.02793, 0.03615, 0},  {0.03151, 0.04078, 0},
                                        {-0.02991, -0.03872, 0}, {0.02267, -0.02935, 0},
                                        {0, -0.00663, 0.00804},  {0, 0.02496, 0.03029},
                                        {0, -0.01583, -0.01921}, {0, 0.02441, -0.02962},
                                        {0.04885, 0, -0.01811},  {0.04185, 0, 0.01552},
                                        {-0.03834, 0, -0.01422}, {-0.03782, 0, 0.01402}};
static const uint32_t irregular_faces[19][3] = {{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10},
                                                {0, 10, 11}, {1, 5, 9},  {5, 11, 4}, {11, 10, 2},
                                                {10, 7, 6},  {7, 1, 8},  {3, 9, 4},  {3, 4, 2},
                                                {3, 2, 6},   {3, 6, 8},  {3, 8, 9},  {4, 9, 5},
                                                {2, 4, 11},  {6, 2, 10}, {8, 6, 7}};
static const double irregular_cones[12][4] = {
  {-0.613650508945825, 0.789567739082173, -0.00397973255321727, 0.807963421711199},
  {0, 0, 1, 3.14159265358979},
  {-0.441347565786531, -0.891643461465492, 0.100917113514704, 1.23433558679744},
  {0.330593423875494, -0.926572303438704, 0.17936486442604, 1.09870696743381},
  {0.00633558535383524, -0.44331727815978, 0.896342373896955, 0.17327091896481},
  {-0.0463604611979218, 0.287941602413237, 0.956525138842264, 0.908852191142631},
  {-2.85290657392586e-05, -0.484518941429711, -0.874780769439935, 0.348944179478983},
  {-0.0716219371799161, 0.400734550613049, -0.913390452139475, 0.716260077076766},
  {0, 0, 1, 3.14159265358979},
  {0, 0, 1, 3.14159265358979},
  {-0.808154513805096, -0.0313235192111677, -0.588136989961247, 0.732765179928405},
  {-0.736096509972405, -0.102272834493982, 0.66910551883168, 0.946107583186831}};
static const uint32_t irregular_edges[22][2] = {{0, 1},  {0, 5},  {0, 7}, {0, 10}, {0, 11}, {1, 5},
                                                {1, 7},  {1, 8},  {1, 9}, {2, 3},  {2, 6},  {2, 10},
                                                {2, 11}, {3, 8},  {3, 9}, {5, 9},  {5, 11}, {6, 8},
                                                {7, 8},  {7, 10}, {8, 9}, {10, 11}};
static const double irregular_edge_cones[22][4] = {
  {-0.0776530324929362, 0.996910637447113, -0.0117977747665165, 0.426238721627205},
  {-0.352199418837547, 0.72455632060641, 0.592430339904867, 0.390265385944767},
  {-0.339118725919813, 0.720207496666167, -0.605226942126981, 0.374190582899076},
  {-0.839765105237767, 0.390296019750101, -0.377443485825668, 0.434299243985195},
  {-0.840143369997302, 0.37995149615748, 0.387034854266731, 0.407070557777073},
  {0.243627446348137, 0.732300932764299, 0.635909593620369, 0.434620105946672},
  {0.193032869764484, 0.757301280163437, -0.62388547206463, 0.363146129456356},
  {0.431214439194928, 0.512974790935045, -0.742233771324743, 3.14159265358979},
  {0.513038843881897, 0.415860548092443, 0.750900225867977, 3.14159265358979},
  {0.16904201927932, -0.948583711174672, 0.267607433775778, 1.00368230114883},
  {-0.0745089645302754, -0.58213903650379, -0.80966817671381, 0.29118958702752},
  {-0.767182277780614, -0.361595862910666, -0.529792208875556, 0.616994426342903},
  {-0.628578560119776, -0.375104498927842, 0.68131168244926, 0.788896033036385},
  {0.593992500266518, -0.733581538060951, -0.330198480679817, 0.552717037779298},
  {0.42341996007479, -0.62399498895349, 0.656769206929799, 0.621811374467529},
  {0.279304536714304, -0.0969858692198023, 0.955291953772504, 0.608877712117688},
  {-0.341850290699924, -0.0916709543771715, 0.935272588538741, 0.631021218718693},
  {0.169697513092188, -0.463227978669802, -0.869840556554945, 0.243599007917228},
  {0.295446736267797, 0.146074806147921, -0.944125720991412, 0.443872142548766},
  {-0.427838472861815, 0.105670200348425, -0.897656977858243, 0.41051814578324},
  {0.784139533781592, -0.598736593994117, 0.16321667369822, 3.14159265358979},
  {-0.999290048423888, 0.0328758239710586, 0.0184005249709781, 0.240753730845341}};
/* Ground with a hill, a hump and a dent, and the cones of its inner nodes by the same. */
static const double ground[25] = {0, 0, 0, 0, 0,     0, 0, 0, 0.03, 0, 0, 0, 0.1,
                                  0, 0, 0, 0, -0.02, 0, 0, 0, 0,    0, 0, 0};
static const double ground_cones[9][4] = {
  {-0.0827952598059928, -0.0700474689937114, 0.994101753866893, 0.718996365372451},
  {0.019655123125844, -0.310404660273791, 0.950401295777326, 0.626671382830688},
  {1.32551524289693e-17, -6.82419535196232e-18, 1, 0.323618565303987},
  {-0.131365065188215, 0.084581620490946, 0.987719175233134, 0.789564305600118},
  {-0.00464863636430713, 0.032912299871581, 0.999447432683238, 0.882954269788093},
  {0.125332477366713, 0.0568615404129659, 0.990483990450622, 0.844383261047254},
  {0.0322578138850367, -0.0147207388738668, 0.999371168930926, 0.193653789833038},
  {-0.0576321226918501, 0.278627556075679, 0.958668463771144, 0.633537082948701},
  {0.0506252148648837, 0.0851514833552897, 0.995081058257205, 0.798501078579524}};

/* ---- meshes ---- */

/* A mesh in the making. */
typedef struct shape {
  double vertices[3 * 256];
  size_t vertex_count;
  uint32_t sizes[256], corners[1024];
  size_t face_count, corner_count;
} shape;

static uint32_t add_vertex(shape *s, double x, double y, double z)
{
  double *v = s->vertices + 3 * s->vertex_count;
  REQUIRE(s->vertex_count < 256);
  v[0] = x;
  v[1] = y;
  v[2] = z;
  return (uint32_t)s->vertex_count++;
}

static void add_face(shape *s, uint32_t size, const uint32_t *corners)
{
  REQUIRE(s->face_count < 256 && s->corner_count + size <= 1024);
  memcpy(s->corners + s->corner_count, corners, size * sizeof *corners);
  s->corner_count += size;
  s->sizes[s->face_count++] = size;
}

static void reverse_faces(shape *s)
{
  uint32_t *corner = s->corners;
  for (size_t i = 0; i < s->face_count; corner += s->sizes[i], ++i) {
    for (uint32_t k = 0; k < s->sizes[i] / 2; ++k) {
      const uint32_t kept = corner[k];
      corner[k] = corner[s->sizes[i] - 1 - k];
      corner[s->sizes[i] - 1 - k] = kept;
    }
  }
}

/* Its field is of no account here. */
static abut_body_def def_of(const shape *s)
{
  static const abut_superquadric ball = {{1, 1, 1}, {1, 1}, {0, 0, 0}, {1, 0, 0, 0}, ABUT_ADD};
  abut_body_def def = abut_default_body_def();
  def.vertices = s->vertices;
  def.vertex_count = s->vertex_count;
  def.face_sizes = s->sizes;
  def.face_indices = s->corners;
  def.face_count = s->face_count;
  def.superquadrics = &ball;
  def.superquadric_count = 1;
  return def;
}

static abut_body create(const abut_body_def *def)
{
  abut_body out;
  REQUIRE_OK(abut_create_body(on_host, def, &out));
  return out;
}

static body_features features_of(const abut_body_def *def, bool with_cones)
{
  const abut_body made = create(def);
  body_features out;
  REQUIRE_OK(body_features_make(body_get(made), with_cones, &out));
  CHECK_OK(abut_destroy_body(made));
  return out;
}

static body_features features_of_shape(const shape *s, bool with_cones)
{
  const abut_body_def def = def_of(s);
  return features_of(&def, with_cones);
}

/* ---- checks ---- */

static void check_counts(const body_features *f, const char *name, size_t held, size_t vertices,
                         size_t edges)
{
  check(f->held == held && f->vertex_count == vertices && f->edge_count == edges,
        "%s: %zu held of %zu vertices, %zu edges", name, f->held, f->vertex_count, f->edge_count);
  for (size_t i = 0; i < f->edge_count - f->quarters; ++i) { /* those of circles follow the
                                                                others, circle by circle */
    const abut_feature_edge *e = &f->edges[i];
    CHECK(e->from < e->to && e->to < f->vertex_count);
    CHECK(!i || e[-1].from < e->from || (e[-1].from == e->from && e[-1].to < e->to));
  }
}

static void check_cone(const double cone[4], const double wanted[4], double tolerance,
                       const char *name, size_t i)
{
  double off = fabs(cone[3] - wanted[3]);
  const double length = sqrt(wanted[0] * wanted[0] + wanted[1] * wanted[1] + wanted[2] * wanted[2]);
  for (int k = 0; k < 3 && wanted[3] < PI - 1e-9; ++k) {
    off = fmax(off, fabs(cone[k] - wanted[k] / length));
  }
  check(off <= tolerance, "%s, cone %zu: %.17g %.17g %.17g, %.17g", name, i, cone[0], cone[1],
        cone[2], cone[3]);
  CHECK(fabs(cone[0] * cone[0] + cone[1] * cone[1] + cone[2] * cone[2] - 1.0) < EXACT);
}

static void check_every(const double *cones, size_t count, const char *name)
{
  static const double every[4] = {0, 0, 1, PI};
  for (size_t i = 0; i < count; ++i) {
    check_cone(cones + 4 * i, every, 0.0, name, i);
  }
}

/* Counts the cones that every normal is within. */
static size_t count_every(const double *cones, size_t count)
{
  size_t out = 0;
  for (size_t i = 0; i < count; ++i) {
    out += cones[4 * i + 3] == CONE_EVERY;
  }
  return out;
}

/* Finds an edge by the names of its ends; edge_count where there is none. */
static size_t edge_between(const body_features *f, uint32_t a, uint32_t b)
{
  size_t i = 0;
  for (; i < f->edge_count; ++i) {
    const uint32_t from = f->names[f->edges[i].from], to = f->names[f->edges[i].to];
    if ((from == a && to == b) || (from == b && to == a)) {
      break;
    }
  }
  return i;
}

/* ---- cubes ---- */

static const uint32_t cube_quads[24] = {0, 2, 3, 1, 4, 5, 7, 6, 0, 1, 5, 4,
                                        2, 6, 7, 3, 0, 4, 6, 2, 1, 3, 7, 5};

/* Corner number b is above in axis k where bit k of b is set. */
static void add_corners(shape *s)
{
  for (int i = 0; i < 8; ++i) {
    add_vertex(s, i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1);
  }
}

static shape cube(void)
{
  shape s = {.vertex_count = 0};
  add_corners(&s);
  for (int i = 0; i < 6; ++i) {
    add_face(&s, 4, cube_quads + 4 * i);
  }
  return s;
}

/* A cube's cones are about its diagonals, and about the middles of its edges. */
static void check_cube_cones(const body_features *f, const char *name)
{
  for (size_t i = 0; i < f->vertex_count; ++i) {
    const double *v = f->vertices + 4 * i;
    const double wanted[4] = {v[0], v[1], v[2], acos(1.0 / sqrt(3.0))};
    CHECK(v[3] == 0.0 && f->names[i] == i);
    check_cone(f->vertex_cones + 4 * i, wanted, EXACT, name, i);
  }
  for (size_t i = 0; i < f->edge_count; ++i) {
    const double *a = f->vertices + 4 * f->edges[i].from, *b = f->vertices + 4 * f->edges[i].to;
    const double wanted[4] = {a[0] + b[0], a[1] + b[1], a[2] + b[2], PI / 4.0};
    CHECK(f->edges[i].radius == 0.0 && !f->edges[i].arc);
    CHECK(fabs(a[0] - b[0]) + fabs(a[1] - b[1]) + fabs(a[2] - b[2]) == 2.0);
    check_cone(f->edge_cones + 4 * i, wanted, EXACT, name, i);
  }
}

static void cube_is_right(const shape *s, const char *name)
{
  body_features f = features_of_shape(s, true);
  check_counts(&f, name, 8, 8, 12);
  check_cube_cones(&f, name);
  body_features_free(&f);
  f = features_of_shape(s, false);
  check_counts(&f, name, 8, 8, 12);
  check_every(f.vertex_cones, 8, name);
  check_every(f.edge_cones, 12, name);
  body_features_free(&f);
}

static void cubes(void)
{
  /* The triangles are those of round_reference.py, whose sides run both ways, made to run one
   * way. */
  static const uint32_t triangles[36] = {0, 3, 1, 0, 2, 3, 4, 7, 6, 4, 5, 7, 0, 5, 4, 0, 1, 5,
                                         2, 7, 3, 2, 6, 7, 0, 6, 2, 0, 4, 6, 1, 7, 5, 1, 3, 7};
  shape s = cube(), of_triangles = {.vertex_count = 0}, apart = {.vertex_count = 0};
  cube_is_right(&s, "a cube");
  reverse_faces(&s);
  cube_is_right(&s, "a cube inside out");
  add_corners(&of_triangles);
  for (int i = 0; i < 12; ++i) {
    add_face(&of_triangles, 3, triangles + 3 * i);
  }
  cube_is_right(&of_triangles, "a cube of triangles");
  for (uint32_t i = 0; i < 24; ++i) {
    const uint32_t b = cube_quads[i];
    add_vertex(&apart, b & 1 ? 1 : -1, b & 2 ? 1 : -1, b & 4 ? 1 : -1);
  }
  for (uint32_t i = 0; i < 6; ++i) {
    add_face(&apart, 4, (uint32_t[]){4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3});
  }
  body_features f = features_of_shape(&apart, true);
  check_counts(&f, "a cube of faces apart", 24, 24, 12);
  check_cube_cones(&f, "a cube of faces apart");
  body_features_free(&f);
  f = features_of_shape(&apart, false);
  check_counts(&f, "a cube of faces apart, as written", 24, 24, 24);
  body_features_free(&f);
}

/* A cube whose sides have a vertex in the middle, and whose edges have one, has 6 flat vertices. */
static void flat_vertices(void)
{
  shape s = {.vertex_count = 0};
  uint32_t at[27];
  for (int i = 0; i < 27; ++i) {
    at[i] = i == 13 ? 0 : add_vertex(&s, i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1);
  }
  for (int axis = 0; axis < 3; ++axis) {
    const int power[3] = {1, 3, 9}, along = power[(axis + 1) % 3], up = power[(axis + 2) % 3];
    for (int i = 0; i < 8; ++i) {
      const bool above = i & 1;
      const int first = (above ? 2 * power[axis] : 0) + (i & 2 ? along : 0) + (i & 4 ? up : 0);
      const uint32_t quad[4] = {at[first], at[first + (above ? along : up)], at[first + along + up],
                                at[first + (above ? up : along)]};
      add_face(&s, 4, quad);
    }
  }
  body_features f = features_of_shape(&s, true);
  check_counts(&f, "a cube with flat vertices", 20, 20, 24);
  for (size_t i = 0; i < f.vertex_count; ++i) {
    const double *v = f.vertices + 4 * i;
    const double squares = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    const double wanted[4] = {v[0], v[1], v[2], squares == 2.0 ? PI / 4.0 : acos(1.0 / sqrt(3.0))};
    CHECK(squares > 1.0 && !memcmp(v, s.vertices + 3 * f.names[i], 3 * sizeof *v));
    check_cone(f.vertex_cones + 4 * i, wanted, EXACT, "a cube with flat vertices", i);
  }
  body_features_free(&f);
  f = features_of_shape(&s, false);
  check_counts(&f, "a cube with flat vertices, without cones", 26, 26, 24);
  body_features_free(&f);
}

/* ---- other closed meshes ---- */

static shape icosahedron(void)
{
  static const uint32_t faces[20][3] = {{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10},
                                        {0, 10, 11}, {1, 5, 9},  {5, 11, 4}, {11, 10, 2},
                                        {10, 7, 6},  {7, 1, 8},  {3, 9, 4},  {3, 4, 2},
                                        {3, 2, 6},   {3, 6, 8},  {3, 8, 9},  {4, 9, 5},
                                        {2, 4, 11},  {6, 2, 10}, {8, 6, 7},  {9, 8, 1}};
  shape s = {.vertex_count = 0};
  const double g = 0.5 * (1.0 + sqrt(5.0)), one = 1.0 / sqrt(1.0 + g * g), gold = g * one;
  for (int i = 0; i < 12; ++i) {
    const double a = i % 2 ? one : -one, b = i % 4 < 2 ? gold : -gold;
    if (i < 4) {
      add_vertex(&s, a, b, 0.0);
    } else if (i < 8) {
      add_vertex(&s, 0.0, a, b);
    } else {
      add_vertex(&s, b, 0.0, a);
    }
  }
  for (int i = 0; i < 20; ++i) {
    add_face(&s, 3, faces[i]);
  }
  return s;
}

/* Cuts each triangle into four, with vertices on the unit sphere. */
static shape refined(const shape *from)
{
  shape s = {.vertex_count = from->vertex_count};
  memcpy(s.vertices, from->vertices, sizeof s.vertices);
  for (size_t i = 0; i < from->face_count; ++i) {
    const uint32_t *c = from->corners + 3 * i;
    uint32_t middle[3];
    for (int k = 0; k < 3; ++k) {
      const double *a = s.vertices + 3 * c[k], *b = s.vertices + 3 * c[(k + 1) % 3];
      const double m[3] = {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
      const double length = sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]);
      size_t at = from->vertex_count;
      while (at < s.vertex_count && fabs(s.vertices[3 * at] - m[0] / length) +
                                        fabs(s.vertices[3 * at + 1] - m[1] / length) +
                                        fabs(s.vertices[3 * at + 2] - m[2] / length) >
                                      1e-9) {
        ++at;
      }
      middle[k] = at < s.vertex_count ? (uint32_t)at
                                      : add_vertex(&s, m[0] / length, m[1] / length, m[2] / length);
    }
    for (int k = 0; k < 3; ++k) {
      add_face(&s, 3, (uint32_t[]){c[k], middle[k], middle[(k + 2) % 3]});
    }
    add_face(&s, 3, middle);
  }
  return s;
}

static void icospheres(void)
{
  const shape coarse = icosahedron(), fine = refined(&coarse);
  const double meeting = acos(sqrt(5.0) / 3.0); /* between the normals of neighbours */
  body_features f = features_of_shape(&coarse, true);
  check_counts(&f, "an icosahedron", 12, 12, 30);
  for (size_t i = 0; i < f.vertex_count; ++i) {
    const double *v = f.vertices + 4 * i;
    const double wanted[4] = {v[0], v[1], v[2], acos(sqrt((5.0 + 2.0 * sqrt(5.0)) / 15.0))};
    check_cone(f.vertex_cones + 4 * i, wanted, EXACT, "an icosahedron", i);
  }
  for (size_t i = 0; i < f.edge_count; ++i) {
    const double *a = f.vertices + 4 * f.edges[i].from, *b = f.vertices + 4 * f.edges[i].to;
    const double wanted[4] = {a[0] + b[0], a[1] + b[1], a[2] + b[2], 0.5 * meeting};
    check_cone(f.edge_cones + 4 * i, wanted, EXACT, "an icosahedron", i);
  }
  body_features_free(&f);
  /* By the reference 60 edges of the finer mesh have 22.4589 degrees between their faces, and 60
   * have 18.0291; vertices with five faces have a half angle of 19.3483 degrees, those with six
   * 20.9052. */
  f = features_of_shape(&fine, true);
  check_counts(&f, "an icosphere", 42, 42, 60);
  for (size_t i = 0; i < f.vertex_count; ++i) {
    const double *v = f.vertices + 4 * i, *c = f.vertex_cones + 4 * i;
    CHECK(v[0] * c[0] + v[1] * c[1] + v[2] * c[2] > cos(2.0 * DEGREE));
    CHECK(fabs(c[3] - (i < 12 ? 19.348266 : 20.905157) * DEGREE) < 1e-8);
  }
  for (size_t i = 0; i < f.edge_count; ++i) {
    CHECK(fabs(f.edge_cones[4 * i + 3] - 0.5 * 22.458924 * DEGREE) < 1e-8);
  }
  body_features_free(&f);
  abut_body_def def = def_of(&fine);
  def.sharp = 10.0;
  f = features_of(&def, true);
  check_counts(&f, "an icosphere by 10 degrees", 42, 42, 120);
  body_features_free(&f);
  def = def_of(&coarse);
  def.sharp = 45.0;
  f = features_of(&def, false);
  check_counts(&f, "an icosahedron by 45 degrees", 12, 12, 0);
  body_features_free(&f);
}

/* Makes a prism over a polygon that runs counterclockwise. Vertex i of it is above vertex i +
 * count. */
static shape prism(const double (*outline)[2], uint32_t count, double height)
{
  shape s = {.vertex_count = 0};
  uint32_t top[128], bottom[128];
  for (uint32_t i = 0; i < 2 * count; ++i) {
    add_vertex(&s, outline[i % count][0], outline[i % count][1], i < count ? height : 0.0);
    top[i % count] = i % count;
    bottom[count - 1 - i % count] = count + i % count;
  }
  add_face(&s, count, top);
  add_face(&s, count, bottom);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t j = (i + 1) % count;
    add_face(&s, 4, (uint32_t[]){i, count + i, count + j, j});
  }
  return s;
}

/* A round prism has both rims and, unless it is flat, edges of its side: of fine ones enough of
 * them. */
static void long_facets(void)
{
  static const struct {
    uint32_t sides, least, most; /* edges of the side that are features */
    double height;
  } cases[] = {{20, 20, 20, 4.0}, {32, 32, 32, 4.0},  {32, 32, 32, 0.5},
               {32, 0, 0, 0.4},   {120, 36, 60, 4.0}, {120, 72, 108, 1.0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const uint32_t sides = cases[i].sides;
    double outline[128][2];
    for (uint32_t k = 0; k < sides; ++k) {
      outline[k][0] = cos(2.0 * PI * k / sides);
      outline[k][1] = sin(2.0 * PI * k / sides);
    }
    shape s = prism((const double(*)[2])outline, sides, cases[i].height);
    for (int turn = 0; turn < 2; ++turn) {
      body_features f = features_of_shape(&s, true);
      const size_t along = f.edge_count - 2 * sides;
      check(f.held == 2 * sides && along >= cases[i].least && along <= cases[i].most,
            "a round prism of %u sides: %zu held vertices, %zu edges of its side", sides, f.held,
            along);
      for (size_t k = 0; k < f.edge_count; ++k) {
        const double half = f.edge_cones[4 * k + 3];
        CHECK(fabs(half - PI / 4.0) < EXACT || fabs(half - PI / sides) < EXACT);
      }
      body_features_free(&f);
      for (size_t k = 0; k < s.vertex_count; ++k) { /* about an axis that is none of the frame's */
        double *v = s.vertices + 3 * k;
        const double x = 0.6 * v[0] - 0.8 * v[2], z = 0.8 * v[0] + 0.6 * v[2];
        v[0] = 0.28 * x - 0.96 * v[1];
        v[1] = 0.96 * x + 0.28 * v[1];
        v[2] = z;
      }
    }
  }
}

/* Of an L the inner edge is left out. At its ends the top's angle is 270 degrees, those of the
 * sides are 90. */
static void hollow_edges(void)
{
  static const double ell[6][2] = {{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}};
  /* A thin plate with a deep notch: the middle of the top's vertices lies beyond the notch's
   * sides. */
  static const double notched[8][2] = {{0, 0}, {9, 0}, {9, 9}, {8, 9},
                                       {8, 1}, {1, 1}, {1, 9}, {0, 9}};
  const shape of_ell = prism(ell, 6, 1.0), of_notched = prism(notched, 8, 0.1);
  for (int cones = 0; cones < 2; ++cones) {
    body_features f = features_of_shape(&of_ell, cones);
    check_counts(&f, "an L", 12, 12, 17);
    CHECK_EQUAL(edge_between(&f, 3, 9), f.edge_count);
    CHECK(edge_between(&f, 3, 4) < f.edge_count && edge_between(&f, 2, 8) < f.edge_count);
    if (cones) {
      const double wanted[4] = {1.0, 1.0, 3.0, acos(1.0 / sqrt(11.0))};
      const double corner[4] = {-1.0, -1.0, 1.0, acos(1.0 / sqrt(3.0))};
      check_cone(f.vertex_cones + 4 * 3, wanted, EXACT, "an L's inner corner", 3);
      check_cone(f.vertex_cones, corner, EXACT, "an L's corner", 0);
    }
    body_features_free(&f);
    f = features_of_shape(&of_notched, cones);
    check_counts(&f, "a notched plate", 16, 16, 22);
    CHECK_EQUAL(edge_between(&f, 4, 12), f.edge_count);
    CHECK_EQUAL(edge_between(&f, 5, 13), f.edge_count);
    body_features_free(&f);
  }
}

/* ---- open meshes ---- */

static shape sheet(double z)
{
  shape s = {.vertex_count = 0};
  for (uint32_t i = 0; i < 9; ++i) {
    add_vertex(&s, i % 3, i / 3, z);
  }
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t at = i % 2 + 3 * (i / 2);
    add_face(&s, 4, (uint32_t[]){at, at + 1, at + 4, at + 3});
  }
  return s;
}

/* Two slopes that meet at the line between vertices 2 and 3, `rise` above their outer sides. */
static shape roof(double rise, double z)
{
  shape s = {.vertex_count = 0};
  for (uint32_t i = 0; i < 6; ++i) {
    add_vertex(&s, (double)(i / 2) - 1.0, i % 2, z + (i / 2 == 1 ? rise : 0.0));
  }
  add_face(&s, 4, (uint32_t[]){0, 2, 3, 1});
  add_face(&s, 4, (uint32_t[]){2, 4, 5, 3});
  return s;
}

static void open_meshes(void)
{
  for (int side = -1; side < 2; side += 2) { /* A sheet has no volume; on neither side of the
                                                origin is it turned. */
    shape s = sheet(side);
    body_features f = features_of_shape(&s, true);
    check_counts(&f, "a sheet", 8, 8, 8);
    check_every(f.vertex_cones, 8, "a sheet");
    check_every(f.edge_cones, 8, "a sheet");
    body_features_free(&f);
    s = roof(1.0, 5.0 * side);
    f = features_of_shape(&s, true);
    check_counts(&f, "a roof", 6, 6, 7);
    CHECK_EQUAL(count_every(f.edge_cones, 7), 6);
    const double up[4] = {0, 0, 1, PI / 4.0};
    check_cone(f.edge_cones + 4 * edge_between(&f, 2, 3), up, EXACT, "a roof's ridge", 0);
    body_features_free(&f);
    s = roof(-1.0, 5.0 * side);
    f = features_of_shape(&s, true);
    check_counts(&f, "a valley", 6, 6, 6);
    body_features_free(&f);
  }
  shape lidless = cube();
  lidless.face_count = 5;
  reverse_faces(&lidless); /* It is inside out, however its hole is closed. */
  body_features f = features_of_shape(&lidless, true);
  check_counts(&f, "a box without a side", 8, 8, 12);
  CHECK_EQUAL(count_every(f.edge_cones, 12), 4);
  const double lower[4] = {-1, -1, 0, PI / 4.0};
  check_cone(f.edge_cones + 4 * edge_between(&f, 0, 4), lower, EXACT, "a box without a side", 0);
  body_features_free(&f);
}

/* Bare vertices and lines, and lines beside faces. */
static void bare_meshes(void)
{
  static const uint32_t lines[8] = {4, 1, 0, 1, 2, 3, 1, 0};
  shape s = sheet(0.0);
  abut_body_def def = def_of(&s);
  def.edges = lines;
  def.edge_count = 4;
  def.face_count = 0;
  body_features f = features_of(&def, true);
  check_counts(&f, "lines", 9, 9, 3);
  check_every(f.vertex_cones, 9, "lines");
  check_every(f.edge_cones, 3, "lines");
  body_features_free(&f);
  s = cube();
  const uint32_t diagonal[2] = {7, 0};
  def = def_of(&s);
  def.edges = diagonal;
  def.edge_count = 1;
  f = features_of(&def, true);
  check_counts(&f, "a cube with a line", 8, 8, 13);
  CHECK_EQUAL(count_every(f.vertex_cones, 8), 2);
  CHECK_EQUAL(count_every(f.edge_cones, 13), 1);
  CHECK(f.edge_cones[4 * edge_between(&f, 0, 7) + 3] == CONE_EVERY);
  body_features_free(&f);
}

/* ---- the reference ---- */

static void reference(void)
{
  shape s = {.vertex_count = 0};
  for (int i = 0; i < 12; ++i) {
    add_vertex(&s, irregular[i][0], irregular[i][1], irregular[i][2]);
  }
  for (int i = 0; i < 19; ++i) {
    add_face(&s, 3, irregular_faces[i]);
  }
  for (int turned = 0; turned < 2; ++turned) {
    body_features f = features_of_shape(&s, true);
    check_counts(&f, "the irregular mesh", 12, 12, 22);
    for (size_t i = 0; i < 12; ++i) {
      check_cone(f.vertex_cones + 4 * i, irregular_cones[i], WRITTEN, "the irregular mesh", i);
    }
    for (size_t i = 0; i < f.edge_count && i < 22; ++i) {
      CHECK(f.edges[i].from == irregular_edges[i][0] && f.edges[i].to == irregular_edges[i][1]);
      check_cone(f.edge_cones + 4 * i, irregular_edge_cones[i], WRITTEN,
                 "edges of the irregular mesh", i);
    }
    body_features_free(&f);
    reverse_faces(&s);
  }
}

/* Of ground the rim counts everywhere, and flat nodes are left out. */
static void grounds(void)
{
  static const double flat[25] = {0.0};
  abut_height_field h = {.heights = ground,
                         .rows = 5,
                         .columns = 5,
                         .size = {0.4, 0.2},
                         .base = 0.5};
  abut_body_def def = abut_default_body_def();
  size_t inner = 0;
  def.height_fields = &h;
  def.height_field_count = 1;
  body_features f = features_of(&def, true);
  check_counts(&f, "ground", 29, 29, 0);
  for (size_t i = 0; i < f.vertex_count; ++i) {
    const double *v = f.vertices + 4 * i, *cone = f.vertex_cones + 4 * i;
    if (v[2] == -0.5) {
      const double corner[4] = {v[0] > 0 ? 1 : -1, v[1] > 0 ? 1 : -1, -1, acos(1.0 / sqrt(3.0))};
      check_cone(cone, corner, 1e-9, "the base", i); /* Its faces are thin, and their angles
                                                        inexact. */
    } else if (fabs(v[0]) > 0.39 || fabs(v[1]) > 0.19) {
      check_every(cone, 1, "the rim");
    } else {
      check_cone(cone, ground_cones[inner++], 1e-13, "the ground", i);
    }
    CHECK(v[3] == 0.0);
  }
  CHECK_EQUAL(inner, 9);
  body_features_free(&f);
  h.heights = flat;
  f = features_of(&def, true);
  check_counts(&f, "flat ground", 20, 20, 0);
  body_features_free(&f);
  f = features_of(&def, false);
  check_counts(&f, "flat ground without cones", 29, 29, 0);
  body_features_free(&f);
}

/* ---- what is stated ---- */

/* A quarter of a ring, with a spoke, all ends out of order. */
static const double stated_vertices[16] = {0, 0,   0, 0.125,  0.5, 0, 0, 0.25,
                                           0, 0.5, 0, 0.0625, 0,   0, 2, 0};
static const abut_feature_edge stated_edges[3] = {
  {.from = 2, .to = 1, .radius = 0.03125, .arc = true, .centre = {0, 0, 3}, .axis = {0, 0, -2}},
  {.from = 1, .to = 0, .radius = 0.5},
  {.from = 0, .to = 3}};
static const double stated_vertex_cones[16] = {0, 0, 0, 180, 3, 0, 0, 90,
                                               0, 2, 0, 0.5, 0, 0, 1, 0.25};
static const double stated_edge_cones[12] = {1, 1, 0, 60, 0, 0, -5, 30, 0, 0, 0, 180};

static abut_body_def stated_def(const shape *s)
{
  abut_body_def def = def_of(s);
  def.states_features = true;
  def.feature_vertices = stated_vertices;
  def.feature_vertex_count = 4;
  def.feature_edges = stated_edges;
  def.feature_edge_count = 3;
  return def;
}

static void check_stated(const body_features *f)
{
  static const uint32_t names[3] = {1, 2, 0};
  check_counts(f, "stated features", 4, 4, 3);
  CHECK(!memcmp(f->vertices, stated_vertices, sizeof stated_vertices));
  CHECK(!memcmp(f->edge_names, names, sizeof names));
  CHECK(!f->edges[0].arc && f->edges[0].radius == 0.5 && f->edges[1].radius == 0.0);
  const abut_feature_edge *arc = &f->edges[2];
  CHECK(arc->from == 1 && arc->to == 2 && arc->arc && arc->radius == 0.03125);
  CHECK(arc->axis[0] == 0 && arc->axis[1] == 0 && arc->axis[2] == 1);
  CHECK(arc->centre[0] == 0 && arc->centre[1] == 0 && arc->centre[2] == 0);
}

static void stated(void)
{
  const shape s = cube();
  abut_body_def def = stated_def(&s);
  body_features f = features_of(&def, true);
  check_stated(&f);
  check_every(f.vertex_cones, 4, "stated features");
  check_every(f.edge_cones, 3, "stated features");
  body_features_free(&f);
  def.cones = ABUT_CONES_GIVEN;
  def.vertex_cones = stated_vertex_cones;
  def.vertex_cone_count = 4;
  def.edge_cones = stated_edge_cones;
  def.edge_cone_count = 3;
  f = features_of(&def, false);
  check_stated(&f);
  check_every(f.vertex_cones, 4, "stated features without cones");
  body_features_free(&f);
  f = features_of(&def, true); /* Vertices 2 and 3 are flat, and ends of edges. */
  check_counts(&f, "stated cones", 2, 4, 3);
  CHECK(f.names[0] == 0 && f.names[1] == 1 && f.names[2] == 2 && f.names[3] == 3);
  const double vertex[4] = {1, 0, 0, PI / 2.0}, flat[4] = {0, 1, 0, 0.5 * DEGREE};
  check_every(f.vertex_cones, 1, "stated cones");
  check_cone(f.vertex_cones + 4, vertex, EXACT, "stated cones", 1);
  check_cone(f.vertex_cones + 8, flat, EXACT, "stated cones", 2);
  const double spoke[4] = {0, 0, -1, PI / 6.0}, arc[4] = {1, 1, 0, PI / 3.0};
  check_cone(f.edge_cones, spoke, EXACT, "stated cones of edges", 0);
  check_every(f.edge_cones + 4, 1, "stated cones of edges");
  check_cone(f.edge_cones + 8, arc, EXACT, "stated cones of edges", 2);
  body_features_free(&f);
  def.states_features = true;
  def.feature_vertex_count = def.feature_edge_count = def.vertex_cone_count = def.edge_cone_count =
    0;
  f = features_of(&def, true);
  check_counts(&f, "no features", 0, 0, 0);
  body_features_free(&f);
}

/* Cones by their ends, of a mesh's edges; and a flat vertex that changes places with those that are
 * held. */
static void cones_by_ends(void)
{
  static const double vertex_cones[32] = {0, 0, 1, 0,  0, 0, 1, 90, 0, 0, 1, 90, 0, 0, 1, 90,
                                          0, 0, 1, 90, 0, 0, 1, 90, 0, 0, 1, 90, 0, 0, 1, 90};
  static const double edge_cones[8] = {1, 0, 0, 20, 0, 1, 0, 40};
  static const uint32_t ends[4] = {7, 6, 1, 0};
  const shape s = cube();
  abut_body_def def = def_of(&s);
  def.cones = ABUT_CONES_GIVEN;
  def.vertex_cones = vertex_cones;
  def.vertex_cone_count = 8;
  def.edge_cones = edge_cones;
  def.edge_cone_ends = ends;
  def.edge_cone_count = 2;
  body_features f = features_of(&def, true);
  check_counts(&f, "cones by ends", 7, 8, 12);
  CHECK(f.names[0] == 1 && f.names[6] == 7 && f.names[7] == 0);
  const size_t first = edge_between(&f, 6, 7), second = edge_between(&f, 0, 1);
  const double wanted[2][4] = {{1, 0, 0, 20.0 * DEGREE}, {0, 1, 0, 40.0 * DEGREE}};
  REQUIRE(first < 12 && second < 12);
  CHECK(f.edges[second].from == 0 && f.edges[second].to == 7);
  check_cone(f.edge_cones + 4 * first, wanted[0], EXACT, "cones by ends", 0);
  check_cone(f.edge_cones + 4 * second, wanted[1], EXACT, "cones by ends", 1);
  CHECK_EQUAL(count_every(f.edge_cones, 12), 10);
  body_features_free(&f);
  def.cones = ABUT_CONES_NONE;
  f = features_of(&def, true);
  check_counts(&f, "no cones", 8, 8, 12);
  check_every(f.vertex_cones, 8, "no cones");
  check_every(f.edge_cones, 12, "no cones");
  body_features_free(&f);
}

/* Stated features at a mesh's corner and along its edge have the mesh's cones; the others are
 * everything. */
static void cones_beside(void)
{
  static const double vertices[16] = {1, 1, 1, 0, 1, 1, -1, 0, 0, 0, 1, 0, 0.5, 0, 1, 0};
  static const abut_feature_edge edges[2] = {{.from = 0, .to = 1}, {.from = 2, .to = 3}};
  const shape s = cube();
  abut_body_def def = def_of(&s);
  def.states_features = true;
  def.feature_vertices = vertices;
  def.feature_vertex_count = 4;
  def.feature_edges = edges;
  def.feature_edge_count = 2;
  body_features f = features_of(&def, true);
  const double corner[4] = {1, 1, 1, acos(1.0 / sqrt(3.0))}, edge[4] = {1, 1, 0, PI / 4.0};
  check_counts(&f, "features beside a mesh", 4, 4, 2);
  check_cone(f.vertex_cones, corner, EXACT, "features beside a mesh", 0);
  check_cone(f.edge_cones, edge, EXACT, "features beside a mesh", 0);
  CHECK_EQUAL(count_every(f.vertex_cones, 4), 2);
  check_every(f.edge_cones + 4, 1, "features beside a mesh");
  body_features_free(&f);
}

/* ---- copies and parts ---- */

static void check_same(const body_features *a, const body_features *b)
{
  REQUIRE(a->vertex_count == b->vertex_count && a->held == b->held &&
          a->edge_count == b->edge_count);
  CHECK(!memcmp(a->vertices, b->vertices, a->vertex_count * 4 * sizeof *a->vertices));
  CHECK(!memcmp(a->vertex_cones, b->vertex_cones, a->vertex_count * 4 * sizeof *a->vertices));
  CHECK(!memcmp(a->names, b->names, a->vertex_count * sizeof *a->names));
  CHECK(!memcmp(a->edge_names, b->edge_names, a->edge_count * sizeof *a->edge_names));
  CHECK(!memcmp(a->edge_cones, b->edge_cones, a->edge_count * 4 * sizeof *a->edge_cones));
  for (size_t i = 0; i < a->edge_count; ++i) {
    const abut_feature_edge *x = &a->edges[i], *y = &b->edges[i];
    CHECK(x->from == y->from && x->to == y->to && x->radius == y->radius && x->arc == y->arc);
    CHECK(!memcmp(x->centre, y->centre, sizeof x->centre) &&
          !memcmp(x->axis, y->axis, sizeof x->axis));
  }
}

/* A copied definition, and a part of a body, have the features of the body. */
static void copies(void)
{
  static const uint32_t ends[6] = {1, 2, 0, 1, 3, 0};
  const shape s = cube();
  for (int i = 0; i < 4; ++i) {
    abut_body_def def = i ? stated_def(&s) : def_of(&s);
    abut_body_copy copy;
    abut_body part;
    body_features f[3];
    def.sharp = 30.0;
    if (i > 1) {
      def.cones = ABUT_CONES_GIVEN;
      def.vertex_cones = stated_vertex_cones;
      def.vertex_cone_count = 4;
      def.edge_cones = stated_edge_cones;
      def.edge_cone_ends = i == 3 ? ends : NULL;
      def.edge_cone_count = 3;
    }
    const abut_body first = create(&def);
    REQUIRE_OK(abut_copy_body(first, &copy));
    CHECK(copy.def.sharp == 30.0 && copy.def.cones == def.cones &&
          copy.def.states_features == def.states_features);
    const abut_body second = create(&copy.def);
    REQUIRE_OK(body_cut_field(body_get(first), &part));
    REQUIRE_OK(body_features_make(body_get(first), true, &f[0]));
    REQUIRE_OK(body_features_make(body_get(second), true, &f[1]));
    REQUIRE_OK(body_features_make(body_get(part), true, &f[2]));
    CHECK(f[0].vertex_count == (i ? 4 : 8));
    for (int k = 1; k < 3; ++k) {
      check_same(&f[0], &f[k]);
      body_features_free(&f[k]);
    }
    body_features_free(&f[0]);
    CHECK_OK(abut_destroy_body(part));
    CHECK_OK(abut_destroy_body(second));
    CHECK_OK(abut_destroy_body(first));
    abut_free_body_copy(&copy);
  }
}

/* ---- words ---- */

/* Gives the place at a share of an arc about z. */
static void arc_place(const body_features *f, const abut_feature_edge *e, double share,
                      double out[3])
{
  const double *from = f->vertices + 4 * e->from, *to = f->vertices + 4 * e->to;
  const double x = from[0] - e->centre[0], y = from[1] - e->centre[1];
  const double u = to[0] - e->centre[0], v = to[1] - e->centre[1];
  const double a = share * e->axis[2] * atan2(e->axis[2] * (x * v - y * u), x * u + y * v);
  out[0] = e->centre[0] + x * cos(a) - y * sin(a);
  out[1] = e->centre[1] + x * sin(a) + y * cos(a);
  out[2] = from[2];
}

/* How far features reach along a unit normal; arcs are sampled. */
static double reach(const body_features *f, const double n[3])
{
  double out = -HUGE_VAL;
  for (size_t i = 0; i < f->vertex_count; ++i) {
    const double *v = f->vertices + 4 * i;
    out = fmax(out, v[0] * n[0] + v[1] * n[1] + v[2] * n[2] + v[3]);
  }
  for (size_t i = 0; i < f->edge_count; ++i) {
    const abut_feature_edge *e = &f->edges[i];
    for (int k = 0; k <= 128; k += e->arc ? 1 : 128) { /* a straight edge reaches farthest at an
                                                          end */
      const double *end = f->vertices + 4 * (k ? e->to : e->from);
      double at[3] = {end[0], end[1], end[2]};
      if (e->arc) {
        arc_place(f, e, k / 128.0, at);
      }
      out = fmax(out, at[0] * n[0] + at[1] * n[1] + at[2] * n[2] + e->radius);
    }
  }
  return out;
}

/* How far the word's body reaches: a sharp box's or cylinder's support, shrunk by `round` and grown
 * again. */
static double word_reach(body_shape word, const double size[3], double q, const double n[3])
{
  const double across = hypot(n[0], n[1]);
  switch (word) {
  case SHAPE_SPHERE:
    return size[0];
  case SHAPE_CAPSULE:
    return size[0] + size[1] * fabs(n[2]);
  case SHAPE_BOX:
    return (size[0] - q) * fabs(n[0]) + (size[1] - q) * fabs(n[1]) + (size[2] - q) * fabs(n[2]) + q;
  default:
    return (size[0] - q) * across + (size[1] - q) * fabs(n[2]) + q;
  }
}

/* A word's features reach in each direction as far as its body does, and no farther. */
static void words(void)
{
  static const struct {
    body_shape word;
    double size[3], round;
    size_t held, vertices, edges;
  } cases[] = {{SHAPE_SPHERE, {0.3, 0, 0}, 0, 1, 1, 0},
               {SHAPE_CAPSULE, {0.2, 0.5, 0}, 0, 2, 2, 1},
               {SHAPE_BOX, {0.3, 0.2, 0.1}, 0, 8, 8, 12},
               {SHAPE_BOX, {0.3, 0.2, 0.1}, 0.02, 8, 8, 12},
               {SHAPE_CYLINDER, {0.3, 0.5, 0}, 0, 2, 2 + 2 * CIRCLE_PARTS, 1 + 2 * CIRCLE_PARTS},
               {SHAPE_CYLINDER, {0.3, 0.301, 0}, 0, 1, 1 + 2 * CIRCLE_PARTS, 2 * CIRCLE_PARTS},
               {SHAPE_CYLINDER, {0.3, 0.1, 0}, 0.05, 0, 3 * CIRCLE_PARTS, 3 * CIRCLE_PARTS}};
  uint64_t random = 3;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    arena memory = {0};
    abut_body_def def;
    double off = 0.0;
    /* A cylinder's rims are as round as its field. */
    const double round = cases[i].round > 0.0 || cases[i].word != SHAPE_CYLINDER
                           ? cases[i].round
                           : fmin(cases[i].size[0], cases[i].size[1]) / 50.0;
    REQUIRE_OK(body_shape_make(cases[i].word, cases[i].size, 0.0, &memory, &def));
    REQUIRE_OK(word_features_make(cases[i].word, cases[i].size, cases[i].round, &memory, &def));
    body_features f = features_of(&def, true);
    check_counts(&f, body_shape_words[cases[i].word], cases[i].held, cases[i].vertices,
                 cases[i].edges);
    for (size_t k = 0; k < f.edge_count; ++k) {
      const abut_feature_edge *e = &f.edges[k];
      if (!e->arc) {
        CHECK_EQUAL(f.edge_names[k], k); /* Words are in order. */
        CHECK(e->radius == (cases[i].word == SHAPE_CYLINDER ? cases[i].size[0] : f.vertices[3]));
        continue;
      }
      const double *from = f.vertices + 4 * e->from, *to = f.vertices + 4 * e->to, *c = e->centre;
      const size_t straight = cases[i].edges % CIRCLE_PARTS,
                   quarter = (k - straight) % CIRCLE_PARTS;
      const bool is_ring = k - straight >= 2 * CIRCLE_PARTS;
      double at[3];
      /* the axis, the rims, the ring */
      CHECK_EQUAL(f.edge_names[k], straight + (k - straight) / CIRCLE_PARTS);
      CHECK(e->radius == (is_ring ? cases[i].size[1] : round));
      CHECK(fabs(hypot(from[0] - c[0], from[1] - c[1]) + e->radius - cases[i].size[0]) < EXACT);
      /* a quarter turn */
      CHECK(fabs((from[0] - c[0]) * (to[0] - c[0]) + (from[1] - c[1]) * (to[1] - c[1])) < EXACT);
      arc_place(&f, e, 1.0, at);
      CHECK(fabs(at[0] - to[0]) + fabs(at[1] - to[1]) + fabs(at[2] - to[2]) < EXACT &&
            c[2] == from[2]);
      /* each begins where the one before ends */
      CHECK(e->from == e[quarter == 0 ? CIRCLE_PARTS - 1 : -1].to);
    }
    for (int k = 0; k < 2000; ++k) {
      double n[3];
      for (int c = 0; c < 3; ++c) {
        n[c] = random_normal(&random);
      }
      const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
      for (int c = 0; c < 3; ++c) {
        n[c] /= length;
      }
      off = fmax(off, fabs(reach(&f, n) - word_reach(cases[i].word, cases[i].size, round, n)));
    }
    check(off < 1e-5, "\"%s\" reaches %g too far", body_shape_words[cases[i].word], off);
    body_features_free(&f);
    arena_free(&memory);
  }
}

/* The normals that a word's corners and edges offer are just within their cones. */
static void word_cones(void)
{
  const double box[3] = {0.3, 0.2, 0.1}, cylinder[3] = {0.3, 0.5, 0};
  arena memory = {0};
  abut_body_def def = abut_default_body_def();
  REQUIRE_OK(word_features_make(SHAPE_BOX, box, 0.01, &memory, &def));
  CHECK_EQUAL(def.cones, ABUT_CONES_GIVEN);
  for (size_t i = 0; i < 8; ++i) {
    const double *c = def.vertex_cones + 4 * i;
    for (int k = 0; k < 3; ++k) {
      CHECK(c[k] * def.feature_vertices[4 * i + (size_t)k] > 0.0);
      CHECK(fabs(cos(c[3] * DEGREE) - fabs(c[k]) / sqrt(3.0)) < EXACT);
    }
  }
  for (size_t i = 0; i < 12; ++i) {
    const abut_feature_edge *e = &def.feature_edges[i];
    const double *a = def.feature_vertices + 4 * e->from, *b = def.feature_vertices + 4 * e->to;
    const double *c = def.edge_cones + 4 * i;
    for (int k = 0; k < 3; ++k) {
      const double middle = 0.5 * (a[k] + b[k]);
      CHECK(c[k] == (fabs(middle) < EXACT ? 0.0 : copysign(1.0, middle)));
    }
    CHECK(c[3] == 45.0);
  }
  REQUIRE_OK(word_features_make(SHAPE_CYLINDER, cylinder, 0.0, &memory, &def));
  CHECK(def.feature_vertex_count == 2 && def.feature_edge_count == 1 &&
        def.feature_circle_count == 2);
  CHECK(def.feature_edges[0].radius == 0.3 && !def.feature_edges[0].arc &&
        def.edge_cones[3] == 180.0);
  for (size_t i = 0; i < 2; ++i) {
    const abut_feature_circle *c = &def.feature_circles[i];
    CHECK(fabs(c->size - 0.294) < EXACT && fabs(c->radius - 0.006) < EXACT &&
          fabs(c->axis[2]) == 1.0);
    CHECK(fabs(c->centre[2] - (i ? 0.494 : -0.494)) < EXACT);
    CHECK(fabs(def.feature_vertices[4 * i + 2] - (i ? 0.2 : -0.2)) < EXACT &&
          def.feature_vertices[4 * i + 3] == 0.3);
    CHECK(def.vertex_cones[4 * i + 3] == 180.0);
  }
  REQUIRE_OK(word_features_make(SHAPE_PLANE, box, 0.0, &memory, &def));
  CHECK(def.states_features && !def.feature_vertex_count && !def.feature_edge_count);
  def = abut_default_body_def();
  REQUIRE_OK(word_features_make(SHAPE_ELLIPSOID, box, 0.0, &memory, &def));
  CHECK(!def.states_features);
  CHECK_EQUAL(word_features_make(SHAPE_BOX, box, 0.1, &memory, &def), ABUT_ERROR_BODY);
  CHECK_EQUAL(word_features_make(SHAPE_BOX, box, 0.9e-4, &memory, &def), ABUT_ERROR_BODY);
  CHECK_OK(word_features_make(SHAPE_BOX, box, 1.1e-4, &memory, &def));
  CHECK_EQUAL(word_features_make(SHAPE_BOX, box, -0.01, &memory, &def), ABUT_ERROR_BODY);
  CHECK_EQUAL(word_features_make(SHAPE_BOX, box, NAN, &memory, &def), ABUT_ERROR_BODY);
  CHECK_EQUAL(word_features_make(SHAPE_SPHERE, box, 0.01, &memory, &def), ABUT_ERROR_BODY);
  arena_free(&memory);
}

/* ---- memory ---- */

static void runs_out(const abut_body_def *def, bool with_cones)
{
  long allowed = 0, before;
  abut_status status;
  const abut_body made = create(def);
  const body *of = body_get(made);
  do {
    body_features f;
    before = allocations_held();
    allocations_fail_after(allowed++);
    status = body_features_make(of, with_cones, &f);
    const bool met = allocations_end();
    REQUIRE(status == (met ? ABUT_ERROR_MEMORY : ABUT_SUCCESS));
    CHECK(status == ABUT_SUCCESS || (!f.vertices && !f.edges && !f.vertex_count));
    body_features_free(&f);
    CHECK_EQUAL(allocations_held(), before);
  } while (status != ABUT_SUCCESS);
  CHECK(allowed > 10);
  CHECK_OK(abut_destroy_body(made));
}

/* Creates the body, and copies its definition out, again and again. */
static void creation_runs_out(const abut_body_def *def)
{
  long allowed = 0;
  bool met;
  abut_body kept = create(def);
  CHECK_OK(abut_destroy_body(kept)); /* What stays with the context is there now. */
  kept = create(def);
  const long before = allocations_held();
  do {
    abut_body made;
    allocations_fail_after(allowed++);
    const abut_status status = abut_create_body(on_host, def, &made);
    met = allocations_end();
    check(status == ABUT_SUCCESS || (met && status == ABUT_ERROR_MEMORY),
          "status %d without allocation %ld: %s", (int)status, allowed, abut_last_error());
    if (status == ABUT_SUCCESS) {
      CHECK_OK(abut_destroy_body(made));
    }
    CHECK_EQUAL(allocations_held(), before);
  } while (met);
  CHECK(allowed > 10);
  allowed = 0;
  do {
    abut_body_copy copy;
    allocations_fail_after(allowed++);
    const abut_status status = abut_copy_body(kept, &copy);
    met = allocations_end();
    CHECK(status == ABUT_SUCCESS || (met && status == ABUT_ERROR_MEMORY));
    if (status == ABUT_SUCCESS) {
      abut_free_body_copy(&copy);
    }
    CHECK_EQUAL(allocations_held(), before);
  } while (met);
  CHECK(allowed > 10);
  CHECK_OK(abut_destroy_body(kept));
}

static void memory(void)
{
  static const uint32_t ends[6] = {1, 2, 0, 1, 3, 0};
  const shape s = cube();
  const abut_height_field h = {.heights = ground,
                               .rows = 5,
                               .columns = 5,
                               .size = {0.4, 0.2},
                               .base = 0.5};
  abut_body_def def = def_of(&s), on_ground = abut_default_body_def();
  on_ground.height_fields = &h;
  on_ground.height_field_count = 1;
  runs_out(&def, false);
  runs_out(&def, true);
  runs_out(&on_ground, true);
  def = stated_def(&s);
  runs_out(&def, true);
  def.cones = ABUT_CONES_GIVEN;
  def.vertex_cones = stated_vertex_cones;
  def.vertex_cone_count = 4;
  def.edge_cones = stated_edge_cones;
  def.edge_cone_ends = ends;
  def.edge_cone_count = 3;
  runs_out(&def, true);
  creation_runs_out(&def);
}

int main(void)
{
  on_host = require_context(ABUT_FLOAT64);
  cubes();
  flat_vertices();
  icospheres();
  long_facets();
  hollow_edges();
  open_meshes();
  bare_meshes();
  reference();
  grounds();
  stated();
  cones_by_ends();
  cones_beside();
  copies();
  words();
  word_cones();
  memory();
  return finish_context(on_host);
}
