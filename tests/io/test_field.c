/* Fields of mesh files: what is written reads back to the bit, and what is kept on disk is what was
 * made, or absent. */
#define _XOPEN_SOURCE 700
#include "format/mesh.h"
#include "body/family/grid_measures.h"
#include "io/field_cache.h"
#include "support.h"

#include <dirent.h>
#include <float.h>
#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIDE = 6, NODES = SIDE * SIDE * (SIDE + 1), BLOCK = 512 };

/* ---- a field by hand, with awkward numbers ---- */

static double vertices[15] = {0.1,  -0.0, 1.0 / 3,    1e-300, DBL_MIN / 8,
                              -1e6, 0.25, 123456.789, 5,      -DBL_EPSILON,
                              1,    2,    1e21,       1.5e-7, 0};
static const uint32_t sizes[] = {3, 4}, corners[] = {0, 1, 2, 3, 2, 1, 0};
static const uint32_t edges[] = {0, 1, 1, 4, 2, 3};
static double coefficients[NODES], corrections[3][BLOCK];
static const int32_t blocks[2][6] = {{0, 0, 0, 1, 0, 2}, {3, 2, 1}};
static abut_grid_level levels[2];
static abut_grid grid;

static abut_field by_hand(bool narrow)
{
  abut_field f = {.def = abut_default_body_def()};
  for (size_t i = 0; i < NODES; i++) {
    coefficients[i] = narrow ? (double)(0.1f + (float)i) : 0.1 + (double)i;
  }
  for (size_t i = 0; i < 3 * BLOCK; i++) {
    corrections[i / BLOCK][i % BLOCK] = i < 2 * BLOCK ? 1.0 / (double)(i + 3) : -0.0;
  }
  levels[0] = (abut_grid_level){blocks[0], corrections[0], 2};
  levels[1] = (abut_grid_level){blocks[1], corrections[2], 1};
  grid = (abut_grid){coefficients, {SIDE, SIDE, SIDE + 1}, {0.1, -1.0 / 3, 1e-9}, 0.1, levels, 2,
                     ABUT_ADD};
  f.def.vertices = vertices;
  f.def.vertex_count = 5;
  f.def.face_sizes = sizes;
  f.def.face_indices = corners;
  f.def.face_count = 2;
  f.def.edges = edges;
  f.def.edge_count = 3;
  f.def.grids = &grid;
  f.def.grid_count = 1;
  return f;
}

/* An array that holds these numbers to the bit, as float32 or as float64. */
static void expect_array(const abut_npz *npz, const char *name, abut_array_type type,
                         uint32_t dimensions, const size_t *shape, const double *numbers)
{
  const abut_array *a = find_array(npz, name);
  REQUIRE(a);
  size_t count = 1;
  CHECK_EQUAL(a->type, type);
  REQUIRE(a->dimensions == dimensions);
  for (size_t i = 0; i < dimensions; i++) {
    REQUIRE(a->shape[i] == shape[i]);
    count *= shape[i];
  }
  size_t same = 0;
  for (size_t i = 0; i < count; i++) {
    const double got =
      real_at(a->data, type == ABUT_ARRAY_FLOAT64 ? ABUT_FLOAT64 : ABUT_FLOAT32, i);
    same += memcmp(&got, &numbers[i], sizeof got) == 0;
  }
  check(same == count, "%s: %zu of %zu numbers are the same", name, same, count);
}

static void expect_blocks(const abut_npz *npz, const char *name, size_t count,
                          const int32_t *wanted)
{
  const abut_array *a = find_array(npz, name);
  REQUIRE(a && a->type == ABUT_ARRAY_INT32 && a->dimensions == 2);
  REQUIRE(a->shape[0] == count && a->shape[1] == 3);
  CHECK(!memcmp(a->data, wanted, 3 * count * sizeof *wanted));
}

static void expect_grid(bool narrow)
{
  static const size_t shape[] = {SIDE, SIDE, SIDE + 1}, one[] = {2, 8, 8, 8}, two[] = {1, 8, 8, 8};
  static const size_t three[] = {3};
  abut_npz npz;
  REQUIRE_OK(abut_read_npz(in_folder("part.grid.npz"), &npz));
  CHECK_EQUAL(npz.count, 7);
  expect_array(&npz, "coefficients", narrow ? ABUT_ARRAY_FLOAT32 : ABUT_ARRAY_FLOAT64, 3, shape,
               coefficients);
  expect_array(&npz, "origin", ABUT_ARRAY_FLOAT64, 1, three, grid.origin);
  expect_array(&npz, "spacing", ABUT_ARRAY_FLOAT64, 0, NULL, &grid.spacing);
  expect_array(&npz, "corrections_1", ABUT_ARRAY_FLOAT64, 4, one, corrections[0]);
  expect_array(&npz, "corrections_2", ABUT_ARRAY_FLOAT32, 4, two, corrections[2]);
  expect_blocks(&npz, "blocks_1", 2, blocks[0]);
  expect_blocks(&npz, "blocks_2", 1, blocks[1]);
  abut_free_npz(&npz);
}

static void expect_contact(void)
{
  mesh m;
  REQUIRE_OK(mesh_read(in_folder("part.contact.obj"), &m));
  REQUIRE(m.vertex_count == 5 && m.face_count == 2 && m.index_count == 7 && m.edge_count == 3);
  CHECK(!memcmp(m.vertices, vertices, sizeof vertices));
  CHECK(!memcmp(m.face_sizes, sizes, sizeof sizes));
  CHECK(!memcmp(m.face_indices, corners, sizeof corners));
  CHECK(!memcmp(m.edges, edges, sizeof edges));
  mesh_free(&m);
}

static void written(void)
{
  for (int narrow = 0; narrow < 2; narrow++) {
    const abut_field f = by_hand(narrow);
    size_t count;
    REQUIRE_OK(abut_write_field(in_folder("part.body.json"), &f));
    CHECK_EQUAL(folder_entries(), 3);
    char *text = slurp(in_folder("part.body.json"), &count);
    CHECK_TEXT(text,
               "{\n \"name\": \"part\",\n \"mesh\": \"part.contact.obj\",\n \"grids\": [\n  {\n"
               "   \"file\": \"part.grid.npz\"\n  }\n ]\n}\n");
    free(text);
    expect_grid(narrow);
    expect_contact();
  }
}

static void remove_written(void)
{
  unlink(in_folder("part.body.json"));
  unlink(in_folder("part.grid.npz"));
  unlink(in_folder("part.contact.obj"));
}

static void not_written(void)
{
  abut_field f = by_hand(true), none = {.def = abut_default_body_def()};
  const char *path = in_folder("part.body.json");
  const size_t entries = folder_entries();
  expect_failure(abut_write_field(NULL, &f), ABUT_ERROR_ARGUMENT, "", "NULL");
  expect_failure(abut_write_field(path, NULL), ABUT_ERROR_ARGUMENT, "", "NULL");
  expect_failure(abut_write_field(path, &none), ABUT_ERROR_ARGUMENT, "", "abut_make_field");
  expect_failure(abut_write_field("part.json", &f), ABUT_ERROR_ARGUMENT,
                 "part.json: ", "must end with .body.json");
  expect_failure(abut_write_field("a/.body.json", &f), ABUT_ERROR_ARGUMENT,
                 "a/.body.json: ", "the name of a body file must end with .body.json");
  expect_failure(abut_write_field(in_folder("a\xff.body.json"), &f), ABUT_ERROR_ARGUMENT, "/",
                 "UTF-8");
  expect_failure(abut_write_field(in_folder("no/a.body.json"), &f), ABUT_ERROR_WRITE, "/",
                 "No such file");
  f.def.vertices = (const double[]){0, 1.0 / 0.0, 0};
  f.def.vertex_count = 1;
  expect_failure(abut_write_field(path, &f), ABUT_ERROR_ARGUMENT, "", "not finite");
  CHECK_EQUAL(folder_entries(), entries);
}

/* Where one of the files cannot be made, none is left; what was there before stays. */
static void partly_written(void)
{
  static const char *const names[] = {"part.body.json", "part.grid.npz", "part.contact.obj"};
  const abut_field f = by_hand(true);
  const char *path = in_folder("part.body.json");
  for (int i = 0; i < 3; i++) {
    CHECK_EQUAL(mkdir(in_folder(names[i]), 0700), 0);
    expect_failure(abut_write_field(path, &f), ABUT_ERROR_WRITE, "/", "not a regular file");
    CHECK_EQUAL(rmdir(in_folder(names[i])), 0);
    CHECK_EQUAL(folder_entries(), 0);
  }
  struct rlimit before, small;
  CHECK_EQUAL(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = before;
  small.rlim_cur = 2000; /* enough for all but the grid */
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  write_text("part.contact.obj", "old");
  CHECK_EQUAL(setrlimit(RLIMIT_FSIZE, &small), 0);
  const abut_status status = abut_write_field(path, &f);
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  expect_failure(status, ABUT_ERROR_WRITE, in_folder("part.grid.npz"), "File too large");
  size_t count;
  char *old = slurp(in_folder("part.contact.obj"), &count);
  CHECK_TEXT(old, "old");
  free(old);
  CHECK_EQUAL(folder_entries(), 1);
  remove_written();
}

/* ---- kept on disk ---- */

static const char box[] = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
                          "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

/* A field that is made quickly. */
static abut_field_options quick(void)
{
  abut_field_options o = abut_default_field_options();
  o.cells = 8;
  o.vertices = 8;
  o.tolerance = 0.1;
  return o;
}

static void same_bytes(const void *a, const void *b, size_t bytes, const char *what)
{
  check(bytes == 0 || (a && b && !memcmp(a, b, bytes)), "the %s differ", what);
}

static void expect_same_grid(const abut_grid *a, const abut_grid *b)
{
  REQUIRE(!memcmp(a->size, b->size, sizeof a->size) && a->level_count == b->level_count);
  same_bytes(a->origin, b->origin, sizeof a->origin, "origins");
  same_bytes(&a->spacing, &b->spacing, sizeof a->spacing, "spacings");
  CHECK_EQUAL(a->operation, b->operation);
  same_bytes(a->coefficients, b->coefficients,
             a->size[0] * a->size[1] * a->size[2] * sizeof(double), "coefficients");
  for (size_t i = 0; i < a->level_count; i++) {
    const size_t count = a->levels[i].block_count;
    REQUIRE(count == b->levels[i].block_count);
    same_bytes(a->levels[i].blocks, b->levels[i].blocks, 3 * count * sizeof(int32_t), "blocks");
    same_bytes(a->levels[i].coefficients, b->levels[i].coefficients, count * BLOCK * sizeof(double),
               "corrections");
  }
}

static void expect_same(const abut_field *a, const abut_field *b)
{
  const size_t from = offsetof(abut_field_report, faces), to = offsetof(abut_field_report, kept);
  const abut_body_def *x = &a->def, *y = &b->def;
  CHECK_EQUAL(a->report.suspicions, b->report.suspicions);
  same_bytes((const char *)&a->report + from, (const char *)&b->report + from, to - from,
             "reports");
  CHECK_EQUAL(x->cookie, y->cookie);
  REQUIRE(x->vertex_count == y->vertex_count && x->edge_count == y->edge_count);
  REQUIRE(x->face_count == y->face_count && x->grid_count == 1 && y->grid_count == 1);
  same_bytes(x->vertices, y->vertices, 3 * x->vertex_count * sizeof(double), "vertices");
  same_bytes(x->edges, y->edges, 2 * x->edge_count * sizeof(uint32_t), "edges");
  same_bytes(x->face_sizes, y->face_sizes, x->face_count * sizeof(uint32_t), "faces");
  expect_same_grid(x->grids, y->grids);
}

static size_t entries_of(const char *folder)
{
  size_t count = 0;
  DIR *d = opendir(folder);
  for (const struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
    count += e->d_name[0] != '.';
  }
  if (d) {
    closedir(d);
  }
  return count;
}

static char *only_entry(const char *folder)
{
  static char path[1024];
  DIR *d = opendir(folder);
  *path = 0;
  for (const struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
    if (e->d_name[0] != '.') {
      snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    }
  }
  if (d) {
    closedir(d);
  }
  return path;
}

/* Loads, and says whether it came from the cache. */
static abut_field load(const char *path, const abut_field_options *o, bool kept)
{
  abut_field f;
  REQUIRE_OK(abut_load_field(path, o, &f));
  check(f.report.kept == kept, "%s %s", path, kept ? "was made anew" : "came from the cache");
  return f;
}

static void load_and_free(const char *path, const abut_field_options *o, bool kept)
{
  abut_field f = load(path, o, kept);
  abut_free_field(&f);
}

static void kept(const char *folder)
{
  const char *path = write_text("box.obj", box);
  const abut_field_options o = quick();
  abut_field made = load(path, &o, false), again = load(path, &o, true);
  expect_same(&made, &again);
  CHECK_EQUAL(entries_of(folder), 1);
  abut_free_field(&again);
  CHECK(!again.memory);
  /* By content, not by name; anything else is another field. */
  again = load(write_text("other.obj", box), &o, true);
  expect_same(&made, &again);
  abut_free_field(&again);
  abut_field_options other = quick();
  other.cells = 9;
  load_and_free(path, &other, false);
  other = quick();
  other.tolerance = 0.09;
  load_and_free(path, &other, false);
  other = quick();
  other.vertices = 9;
  load_and_free(path, &other, false);
  other = quick();
  other.memory = (size_t)1 << 27;
  load_and_free(path, &other, false);
  other = quick();
  other.scale = 2;
  again = load(path, &other, false);
  check(fabs(again.report.diagonal - 2 * made.report.diagonal) < 1e-12, "it is not twice as large");
  abut_free_field(&again);
  other.scale = 1;
  load_and_free(path, &other, true);
  other.no_cache = true;
  again = load(path, &other, false);
  expect_same(&made, &again);
  abut_free_field(&again);
  CHECK_EQUAL(entries_of(folder), 6);
  setenv("ABUT_CACHE_DIR", "off", 1);
  load_and_free(path, &o, false);
  abut_free_field(&made);
}

/* An entry of another key's content, cut short, or of changed bytes is none, and is made anew. */
static void damaged(const char *folder)
{
  const char *path = in_folder("box.obj");
  const abut_field_options o = quick();
  size_t count;
  load_and_free(path, &o, false);
  char *entry = only_entry(folder), *bytes = slurp(entry, &count);
  const size_t step = count / 97 + 1;
  abut_field right = load(path, &o, true);
  for (size_t i = 0; i < count; i += step) {
    FILE *file = fopen(entry, "wb");
    REQUIRE(file);
    if (i % 2) {
      fwrite(bytes, 1, i, file);
    } else {
      bytes[i] ^= 0x10;
      fwrite(bytes, 1, count, file);
      bytes[i] ^= 0x10;
    }
    fclose(file);
    abut_field f = load(path, &o, false);
    expect_same(&right, &f);
    abut_free_field(&f);
    load_and_free(path, &o, true);
  }
  abut_free_field(&right);
  free(bytes);
}

/* A whole entry whose content no version has written. */
static void nonsense(const char *folder)
{
  unsigned char content[2000];
  const abut_field_options o = quick();
  abut_field found = {0};
  abut_body_def def = abut_default_body_def();
  mesh m;
  REQUIRE_OK(mesh_read(in_folder("box.obj"), &m));
  def.vertices = m.vertices;
  def.vertex_count = m.vertex_count;
  def.face_sizes = m.face_sizes;
  def.face_indices = m.face_indices;
  def.face_count = m.face_count;
  const cache_key key = field_cache_key(&def, &o);
  REQUIRE(field_cache_read(&key, &found));
  abut_free_field(&found);
  static const int values[] = {0, 1, 0x7f, 0xff};
  for (int i = 0; i < 4; i++) {
    for (size_t count = 0; count <= sizeof content; count += 40) {
      memset(content, values[i], sizeof content);
      cache_folder_write(folder, &field_cache_kind, &key, content, count);
      if (field_cache_read(&key, &found)) {
        check(false, "%zu bytes of %d are a field", count, values[i]);
      }
    }
  }
  CHECK(!found.memory);
  load_and_free(in_folder("box.obj"), &o, false);
  mesh_free(&m);
}

/* Root may write anything, and gives that up meanwhile. */
static void read_only(const char *cache, const char *folder)
{
  const bool root = getuid() == 0;
  const char *path = in_folder("box.obj");
  const abut_field_options o = quick();
  abut_field_options other = quick();
  other.cells = 10;
  CHECK(chmod(in_folder("."), 0755) == 0 && chmod(cache, 0755) == 0 && chmod(folder, 0555) == 0);
  CHECK(chmod(only_entry(folder), 0444) == 0);
  REQUIRE(!root || seteuid(65534) == 0);
  load_and_free(path, &o, true);
  load_and_free(path, &other, false);
  load_and_free(path, &other, false);
  REQUIRE(!root || seteuid(0) == 0);
  CHECK_EQUAL(entries_of(folder), 1);
  chmod(folder, 0755);
}

static void refused(void)
{
  abut_field_options o = quick(), bare = {0};
  abut_field f;
  const char *path = in_folder("box.obj");
  expect_failure(abut_load_field(NULL, &o, &f), ABUT_ERROR_ARGUMENT, "", "NULL");
  expect_failure(abut_load_field(path, NULL, &f), ABUT_ERROR_ARGUMENT, "", "NULL");
  expect_failure(abut_load_field(path, &o, NULL), ABUT_ERROR_ARGUMENT, "", "NULL");
  expect_failure(abut_load_field(path, &bare, &f), ABUT_ERROR_ARGUMENT, "",
                 "abut_default_field_options");
  static const double scales[] = {-1, 1e-10, 2e9, (double)NAN};
  for (int i = 0; i < 4; i++) {
    o.scale = scales[i];
    expect_failure(abut_load_field(path, &o, &f), ABUT_ERROR_ARGUMENT, "scale: ", "not in");
    CHECK(!f.memory);
  }
  o.scale = 0;
  const char *points = write_text("points.obj", "v 0 0 0\nv 1 1 1\nl 1 2\n");
  expect_failure(abut_load_field(points, &o, &f), ABUT_ERROR_FORMAT, points,
                 "contains no faces, so no field can be made");
  expect_failure(abut_load_field(in_folder("a.body.json"), &o, &f), ABUT_ERROR_FORMAT, "/",
                 ".obj, .stl");
  expect_failure(abut_load_field(in_folder("none.stl"), &o, &f), ABUT_ERROR_READ, "/",
                 "No such file");
  o.cells = 5;
  CHECK_EQUAL(abut_load_field(path, &o, &f), ABUT_ERROR_ARGUMENT);
  CHECK(!f.memory);
  const char *flat = write_text("flat.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n");
  o = quick();
  CHECK_EQUAL(abut_load_field(flat, &o, &f), ABUT_ERROR_BODY);
  check(!strncmp(abut_last_error(), flat, strlen(flat)), "'%s' names no file", abut_last_error());
}

/* ---- progress ---- */

typedef struct progress {
  int calls, allowed;
  double last;
} progress;

static bool step(void *user, const char *what, double share)
{
  progress *p = user;
  check(what && *what && share >= p->last && share <= 1.0, "'%s' goes from %g to %g", what, p->last,
        share);
  p->last = share;
  return p->calls++ < p->allowed;
}

/* A field that its caller has ended is not kept; one that is kept needs no steps. */
static void cancelled(void)
{
  const char *path = in_folder("box.obj");
  abut_field_options o = quick();
  progress p = {.allowed = 1000000};
  abut_field f;
  o.cells = 11;
  o.progress = step;
  o.user = &p;
  for (int i = 0; i < 3; i++) {
    p = (progress){.allowed = i};
    CHECK_EQUAL(abut_load_field(path, &o, &f), ABUT_ERROR_CANCELLED);
    CHECK_EQUAL(p.calls, i + 1);
    CHECK(!f.memory);
  }
  p = (progress){.allowed = 1000000};
  load_and_free(path, &o, false);
  CHECK(p.calls > 3);
  p = (progress){.allowed = 0};
  load_and_free(path, &o, true);
  CHECK_EQUAL(p.calls, 0);
}

/* ---- words ---- */

static void words(void)
{
  static const char *const names[] = {
    "open: 2 holes were closed, the widest 0.5 m across",
    "inside out: 1 of 3 shells",
    "turned: 4 triangles had the opposite orientation",
    "tangled: 1 edge has more than two faces",
    "unit: the diagonal of the box is 250 m; if the file is in millimetres, scale it by 0.001",
    "small: the diagonal of the box is 250 m",
    "coarse: the error of the field is up to 0.5 %",
    "thin: 12 % of the surface",
    "nested: 1 of 3 shells is inside others",
    "sheet: 2 open sheets of faces, up to 0.3 m wide, enclose"};
  const abut_field_report r = {.suspicions = 1023,
                               .holes = 2,
                               .hole_widest = 0.5,
                               .shells = 3,
                               .shells_turned = 1,
                               .turned = 4,
                               .tangled_edges = 1,
                               .diagonal = 250,
                               .face_95 = 0.001,
                               .edge_95 = 0.005,
                               .thin_share = 0.12,
                               .thin_lost = 0.03,
                               .lost_thickness = 6e-4,
                               .lost_error = 0.0013,
                               .shells_nested = 1,
                               .sheets = 2,
                               .sheet_widest = 0.3};
  const abut_field_report none = {0};
  char text[512], cut[8];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const abut_suspicion which = (abut_suspicion)(1 << i);
    const size_t length = abut_suspicion_text(&r, which, text, sizeof text);
    CHECK_EQUAL(length, strlen(text));
    check(!strncmp(text, names[i], strlen(names[i])), "'%s' does not start with '%s'", text,
          names[i]);
    CHECK_EQUAL(abut_suspicion_text(&r, which, cut, sizeof cut), length);
    check(!strncmp(text, cut, 7) && strlen(cut) == 7, "'%s' is no beginning", cut);
    CHECK_EQUAL(abut_suspicion_text(&r, which, NULL, 0), length);
    CHECK_EQUAL(abut_suspicion_text(&none, which, text, sizeof text), 0);
    CHECK_TEXT(text, "");
  }
  CHECK_EQUAL(abut_suspicion_text(&r, (abut_suspicion)(1 << 20), text, sizeof text), 0);
  CHECK_EQUAL(abut_suspicion_text(NULL, ABUT_SUSPECT_OPEN, text, sizeof text), 0);
  /* Shares of a whole, of next to nothing and of nothing. */
  abut_field_report odd = {.suspicions = ABUT_SUSPECT_THIN | ABUT_SUSPECT_COARSE,
                           .thin_share = 1.0,
                           .thin_lost = 0.9961,
                           .edge_95 = 3e-5};
  abut_suspicion_text(&odd, ABUT_SUSPECT_THIN, text, sizeof text);
  check(strstr(text, "thin: 100 % of") &&
          strstr(text, "behind 100 % the field is not negative; set"),
        "'%s'", text);
  odd.lost_thickness = 6e-4;
  odd.lost_error = 0.0013;
  abut_suspicion_text(&odd, ABUT_SUSPECT_THIN, text, sizeof text);
  check(strstr(text, ": half of that surface belongs to parts less than 0.0006 m thick, where the "
                     "error of the field is 0.0013 m or more; set"),
        "'%s'", text);
  abut_suspicion_text(&odd, ABUT_SUSPECT_COARSE, text, sizeof text);
  check(strstr(text, "up to under 0.01 %") != NULL, "'%s'", text);
  odd.suspicions |= ABUT_SUSPECT_WELDED | ABUT_SUSPECT_CLOSING;
  odd.welded_within = 1.2e-4;
  odd.closing_doubt = 0.37;
  abut_suspicion_text(&odd, ABUT_SUSPECT_WELDED, text, sizeof text);
  check(!strncmp(text, "welded: corners up to 0.00012 m apart", 37), "'%s'", text);
  abut_suspicion_text(&odd, ABUT_SUSPECT_CLOSING, text, sizeof text);
  check(!strncmp(text,
                 "closing: the faces that close the holes and the winding number of the open mesh "
                 "disagree about 37 % of the inside; check the result, or close the mesh yourself",
                 51),
        "'%s'", text);
  odd.suspicions |= ABUT_SUSPECT_TRAILING;
  odd.trailing = 1;
  abut_suspicion_text(&odd, ABUT_SUSPECT_TRAILING, text, sizeof text);
  check(!strncmp(text,
                 "trailing: 1 byte after the end of the mesh in the file was ignored; check that "
                 "the file is complete and its header correct",
                 69),
        "'%s'", text);
  odd.suspicions |= ABUT_SUSPECT_NARROW;
  odd.gap_filled = 0.205;
  odd.gap_width = 0.0025;
  abut_suspicion_text(&odd, ABUT_SUSPECT_NARROW, text, sizeof text);
  check(!strncmp(text,
                 "narrow: 20 % of the surface faces gaps that the field fills, half of them "
                 "at most 0.0025 m wide;",
                 96),
        "'%s'", text);
  odd.thin_share = 0.0;
  odd.thin_lost = 0.0123;
  abut_suspicion_text(&odd, ABUT_SUSPECT_THIN, text, sizeof text);
  check(!strncmp(text, "thin: behind 1.2 % of", 21), "'%s'", text);
}

static void empty_folder(const char *folder)
{
  for (char *entry; entry = only_entry(folder), *entry;) {
    unlink(entry);
  }
}

/* Meshes are read back to the bit, and a body file gets another one. */
static void remeshed(void)
{
  char from[512], with_grid[512], path[512], obj[512];
  abut_body_def def = abut_default_body_def();
  abut_mesh_file m, scaled;
  def.vertices = vertices;
  def.vertex_count = 5;
  def.face_sizes = sizes;
  def.face_indices = corners;
  def.face_count = 2;
  def.edges = edges;
  def.edge_count = 3;
  snprintf(obj, sizeof obj, "%s", in_folder("new.contact.obj"));
  snprintf(path, sizeof path, "%s", in_folder("new.body.json"));
  snprintf(with_grid, sizeof with_grid, "%s",
           write_text("grid.body.json", "{\"grids\": [{\"file\": \"a.npz\"}]}"));
  snprintf(
    from, sizeof from, "%s",
    write_text(
      "old.body.json",
      "{\"mesh\": \"old.obj\", \"union\": 0.25,"
      " \"superquadrics\": [{\"axes\": [0.1, 0.2, 0.30000000000000004], \"exponents\": [1, 1],"
      " \"position\": [0, 0, 0], \"quaternion\": [1, 0, 0, 0]}]}"));
  CHECK_OK(abut_write_mesh(obj, &def));
  REQUIRE_OK(abut_load_mesh(obj, 1.0, &m));
  REQUIRE_OK(abut_load_mesh(obj, 0.5, &scaled));
  CHECK_EQUAL(m.def.vertex_count, 5);
  CHECK_EQUAL(m.def.face_count, 2);
  CHECK_EQUAL(m.def.edge_count, 3);
  CHECK(!memcmp(m.def.vertices, vertices, sizeof vertices));
  CHECK(!memcmp(m.def.face_indices, corners, sizeof corners));
  CHECK(scaled.def.vertices[2] == 0.5 / 3.0);
  abut_free_mesh(&m);
  abut_free_mesh(&scaled);
  abut_free_mesh(NULL);
  unlink(obj);
  CHECK_OK(abut_write_remeshed(path, from, &def, 0.0));
  CHECK_EQUAL(access(obj, F_OK), 0);
  char *named = NULL;
  CHECK_OK(abut_find_mesh(path, &named));
  CHECK(named && !strcmp(named, obj));
  abut_free(named);
  CHECK_OK(abut_write_remeshed(path, path, &def, 0.125)); /* over itself */
  CHECK_OK(abut_write_remeshed(in_folder("grid2.body.json"), with_grid, &def, 0.0));
  unlink(in_folder("grid2.body.json"));
  unlink(in_folder("grid2.contact.obj"));
  const size_t entries = folder_entries();
  expect_failure(abut_load_mesh(NULL, 1.0, &m), ABUT_ERROR_ARGUMENT, "",
                 "abut_load_mesh: the path or the output pointer is NULL");
  expect_failure(abut_load_mesh(obj, 0.0, &m), ABUT_ERROR_ARGUMENT, "", "unit of length");
  expect_failure(abut_load_mesh(in_folder("none.obj"), 1.0, &m), ABUT_ERROR_READ, "/",
                 "No such file");
  expect_failure(abut_write_mesh(NULL, &def), ABUT_ERROR_ARGUMENT, "", "NULL");
  expect_failure(abut_write_mesh(in_folder("no/a.obj"), &def), ABUT_ERROR_WRITE, "/",
                 "No such file");
  expect_failure(abut_write_remeshed(path, NULL, &def, 0.0), ABUT_ERROR_ARGUMENT, "",
                 "abut_write_remeshed: a path or the mesh is NULL, or the temperature is below 0");
  expect_failure(abut_write_remeshed(path, from, &def, -1.0), ABUT_ERROR_ARGUMENT, "",
                 "abut_write_remeshed: a path or the mesh is NULL, or the temperature is below 0");
  expect_failure(abut_write_remeshed(in_folder("a.json"), from, &def, 0.0), ABUT_ERROR_ARGUMENT,
                 "/", "must end with");
  expect_failure(abut_write_remeshed(path, obj, &def, 0.0), ABUT_ERROR_FORMAT, "/", "");
  expect_failure(abut_write_remeshed("/tmp/a.body.json", with_grid, &def, 0.0), ABUT_ERROR_ARGUMENT,
                 "/tmp/a.body.json: ", "names files in its own folder: write into that folder");
  def.vertices = (const double[]){0, 1.0 / 0.0, 0};
  def.vertex_count = 1;
  def.face_count = def.edge_count = 0;
  expect_failure(abut_write_remeshed(path, from, &def, 0.0), ABUT_ERROR_ARGUMENT, "", "not finite");
  CHECK_EQUAL(folder_entries(), entries);
  unlink(from);
  unlink(with_grid);
  unlink(path);
  unlink(obj);
}

/* ---- bounds of grids ---- */

enum { EDGE = 28, EDGE3 = EDGE * EDGE * EDGE };

static void expect_bounds(const abut_grid *g, const grid_tree *t, const char *when)
{
  const size_t bytes = t->sides[0] * t->sides[1] * t->sides[2] * sizeof(double);
  const grid_bounds right = grid_bounds_of(g, DBL_EPSILON);
  grid_near near;
  grid_measures m;
  REQUIRE_OK(grid_near_create(g, t, &near));
  REQUIRE_OK(grid_measure(g, t, DBL_EPSILON, &m));
  check(memcmp(&right, &m.bounds, sizeof right) == 0 && near.reach == m.near.reach &&
          memcmp(near.slope, m.near.slope, bytes) == 0 &&
          memcmp(near.correction, m.near.correction, bytes) == 0,
        "%s the bounds are others", when);
  grid_near_free(&near);
  grid_measures_free(&m);
}

/* Bounds of a grid are the same from the cache, of whose entries a damaged one counts as none; and
 * any number of the grid makes another entry, but for its place. */
static void bounds_kept(const char *cache)
{
  static double c[EDGE3], fine[BLOCK];
  static const int32_t block[3] = {1, 1, 1};
  char folder[520];
  const abut_grid_level level = {.blocks = block, .coefficients = fine, .block_count = 1};
  abut_grid g = {.coefficients = c,
                 .size = {EDGE, EDGE, EDGE},
                 .spacing = 0.1,
                 .levels = &level,
                 .level_count = 1};
  grid_tree t;
  size_t count;
  for (size_t i = 0; i < EDGE3; ++i) {
    const double x = (double)(i / (EDGE * EDGE)) - 13.4, y = (double)(i / EDGE % EDGE) - 13.4,
                 z = (double)(i % EDGE) - 13.4;
    c[i] = 0.1 * (sqrt(x * x + 1.2 * y * y + z * z) - 8.0);
  }
  fine[3 * 64 + 3 * 8 + 3] = 0.01;
  REQUIRE_OK(grid_tree_create(&g, 0, &t));
  snprintf(folder, sizeof folder, "%s/bounds", cache);
  expect_bounds(&g, &t, "made anew");
  CHECK_EQUAL(entries_of(folder), 1);
  expect_bounds(&g, &t, "from the cache");
  char *entry = only_entry(folder), *bytes = slurp(entry, &count);
  for (size_t cut = 0; cut < 2; ++cut) {
    FILE *file = fopen(entry, "wb");
    REQUIRE(file);
    bytes[count / 2] ^= 0x10;
    fwrite(bytes, 1, cut ? count / 2 : count, file);
    fclose(file);
    expect_bounds(&g, &t, "of a damaged entry");
  }
  free(bytes);
  g.origin[1] = 3.0;
  expect_bounds(&g, &t, "elsewhere");
  CHECK_EQUAL(entries_of(folder), 1);
  c[EDGE3 / 2] += 0.02;
  expect_bounds(&g, &t, "of another grid");
  fine[3 * 64 + 4 * 8 + 3] = 0.02;
  expect_bounds(&g, &t, "of another block");
  g.spacing = 0.125;
  expect_bounds(&g, &t, "of other cells");
  CHECK_EQUAL(entries_of(folder), 4);
  setenv("ABUT_CACHE_DIR", "off", 1);
  c[EDGE3 / 2] -= 0.02;
  expect_bounds(&g, &t, "without a cache");
  CHECK_EQUAL(entries_of(folder), 4);
  setenv("ABUT_CACHE_DIR", cache, 1);
  grid_tree_free(&t);
  empty_folder(folder);
  CHECK_EQUAL(rmdir(folder), 0);
}

int main(void)
{
  folder_make();
  remeshed();
  not_written();
  partly_written();
  written();
  remove_written();
  char cache[512], fields[520];
  snprintf(cache, sizeof cache, "%s", in_folder("cache"));
  snprintf(fields, sizeof fields, "%s/fields", cache);
  setenv("ABUT_CACHE_DIR", cache, 1);
  kept(fields);
  setenv("ABUT_CACHE_DIR", cache, 1);
  empty_folder(fields);
  damaged(fields);
  nonsense(fields);
  read_only(cache, fields);
  refused();
  cancelled();
  words();
  bounds_kept(cache);
  empty_folder(fields);
  CHECK_EQUAL(rmdir(fields), 0);
  CHECK_EQUAL(rmdir(cache), 0);
  folder_remove();
  return check_finish();
}
