/* Every allocation fails once: an error, no crash, and nothing left behind (a sanitizer looks). */
#include "io/poses.h"
#include "io/shape_rows.h"
#include "io/superquadric_table.h"
#include "sample_read.h"
#include "support.h"
#include "support/allocations.h"

#include <stdlib.h>
#include <unistd.h>

/* A table becomes a body, and a table again. */
static abut_status take_table(const char *bytes, size_t count)
{
  abut_superquadrics s;
  abut_decomposition d = {0};
  abut_status status = superquadric_table_parse("t", bytes, count, 1.0, &s);
  status = status == ABUT_SUCCESS ? abut_import_superquadrics(&s, 0.0, &d) : status;
  status = status == ABUT_SUCCESS
             ? abut_write_superquadrics(in_folder(*bytes == '\x93' ? "t.npy" : "t.csv"),
                                        s.superquadrics, s.count)
             : status;
  unlink(in_folder("t.npy"));
  unlink(in_folder("t.csv"));
  abut_free_decomposition(&d);
  abut_free_superquadrics(&s);
  return status;
}

/* A sample of arrays is read as poses, and as rows of shapes, too. */
static abut_status read_sample(sample_kind kind, const char *bytes, size_t count)
{
  abut_status status = sample_read(kind, bytes, count);
  if (status == ABUT_SUCCESS && kind == SAMPLE_TABLE) {
    status = take_table(bytes, count);
  }
  if (status == ABUT_SUCCESS && kind == SAMPLE_NPZ) {
    abut_poses p;
    status = poses_parse_npz("t", bytes, count, &p);
    abut_free_poses(&p);
  }
  if (status == ABUT_SUCCESS && kind == SAMPLE_NPZ) {
    uint32_t *one, *two;
    status = shape_rows_parse("t", bytes, count, 2, &one, &two);
    CHECK(status == ABUT_SUCCESS || (!one && !two));
    free(one);
    free(two);
  }
  return status;
}

static void each_read(void)
{
  for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
    sample s[SAMPLE_LIMIT];
    size_t count = samples_make((sample_kind)kind, s);
    for (size_t i = 0; i < count; i++) {
      long allowed = 0;
      abut_status status;
      do {
        allocations_fail_after(allowed++);
        status = read_sample((sample_kind)kind, s[i].bytes, s[i].count);
        const bool met = allocations_end();
        REQUIRE(status == (met ? ABUT_ERROR_MEMORY : ABUT_SUCCESS));
      } while (status != ABUT_SUCCESS);
      free(s[i].bytes);
    }
  }
}

static abut_status write_all(const char *npz, const char *png)
{
  static const uint8_t pixels[300];
  static const abut_array arrays[] = {{"a", ABUT_ARRAY_UINT8, 1, {300}, pixels},
                                      {"t", ABUT_ARRAY_TEXT, 1, {2}, "ab"}};
  abut_smoothing s = {.length = 1};
  char *text = NULL;
  abut_status status = abut_format_smoothing(&s, &text);
  abut_free(text);
  if (status == ABUT_SUCCESS) {
    status = abut_write_npz(npz, arrays, 2);
  }
  return status == ABUT_SUCCESS ? abut_write_png(png, 10, 10, pixels) : status;
}

static void each_write(void)
{
  long allowed = 0;
  abut_status status;
  do {
    const char *npz = in_folder("a.npz"), *png = in_folder("a.png");
    allocations_fail_after(allowed++);
    status = write_all(npz, png);
    allocations_end();
    REQUIRE(status == ABUT_SUCCESS || status == ABUT_ERROR_MEMORY);
    size_t whole = (access(npz, F_OK) == 0) + (access(png, F_OK) == 0);
    CHECK_EQUAL(folder_entries(), whole); /* no temporary is left */
    CHECK(status != ABUT_SUCCESS || whole == 2);
    unlink(npz);
    unlink(png);
  } while (status != ABUT_SUCCESS);
  CHECK(allowed > 8);
}

/* ---- fields: made, taken from the cache, written ---- */

static abut_status load(bool no_cache, abut_field *f)
{
  abut_field_options o = abut_default_field_options();
  o.cells = 8;
  o.vertices = 8;
  o.tolerance = 0.1;
  o.memory = 1 << 18; /* few blocks */
  o.no_cache = no_cache;
  return abut_load_field(in_folder("t.obj"), &o, f);
}

static abut_status load_once(void)
{
  abut_field f;
  const abut_status status = load(true, &f);
  CHECK(status == ABUT_SUCCESS || !f.memory);
  abut_free_field(&f);
  return status;
}

/* What lacks memory for the cache makes the field. */
static abut_status take_once(void)
{
  abut_field f;
  const abut_status status = load(false, &f);
  const bool kept = f.report.kept;
  abut_free_field(&f);
  return status == ABUT_SUCCESS && !kept ? ABUT_ERROR_MEMORY : status;
}

static abut_field written;

static abut_status write_once(void)
{
  const abut_status status = abut_write_field(in_folder("w.body.json"), &written);
  static const char *const names[] = {"w.body.json", "w.grid.npz", "w.contact.obj",
                                      "w.surface.obj"};
  for (int i = 0; i < 4; i++) {
    CHECK_EQUAL(access(in_folder(names[i]), F_OK), status == ABUT_SUCCESS ? 0 : -1);
    unlink(in_folder(names[i]));
  }
  return status;
}

static abut_status remesh_once(void)
{
  const abut_status status =
    abut_write_remeshed(in_folder("r.body.json"), in_folder("old.body.json"), &written.def, 0.25);
  CHECK_EQUAL(access(in_folder("r.surface.obj"), F_OK), status == ABUT_SUCCESS ? 0 : -1);
  unlink(in_folder("r.body.json"));
  unlink(in_folder("r.contact.obj"));
  unlink(in_folder("r.surface.obj"));
  return status;
}

static abut_status find_surface_once(void)
{
  char *path = NULL;
  const abut_status status = abut_find_surface(in_folder("old.body.json"), &path);
  CHECK((status == ABUT_SUCCESS) == (path != NULL));
  abut_free(path);
  return status;
}

static abut_status load_mesh_once(void)
{
  abut_mesh_file m;
  const abut_status status = abut_load_mesh(in_folder("t.obj"), 2.0, &m);
  CHECK(status == ABUT_SUCCESS || !m.memory);
  abut_free_mesh(&m);
  return status;
}

/* Until nothing fails any more. */
static void each_failure(abut_status (*once)(void), const char *what, long least)
{
  long allowed = 0;
  abut_status status;
  do {
    const size_t entries = folder_entries();
    allocations_fail_after(allowed++);
    status = once();
    allocations_end();
    require(check(status == ABUT_SUCCESS || status == ABUT_ERROR_MEMORY, "%s gives %s", what,
                  abut_status_name(status)));
    CHECK_EQUAL(folder_entries(), entries);
  } while (status != ABUT_SUCCESS);
  check(allowed > least, "%s allocates %ld times", what, allowed);
}

static void each_field(void)
{
  char cache[512], command[600];
  write_text("t.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
                      "l 1 2\n");
  snprintf(cache, sizeof cache, "%s", in_folder("cache"));
  setenv("ABUT_CACHE_DIR", cache, 1);
  each_failure(load_once, "making a field", 8);
  REQUIRE_OK(load(false, &written)); /* and keeps it */
  each_failure(take_once, "taking a field", 8);
  each_failure(write_once, "writing a field", 8);
  write_text(
    "old.body.json",
    "{\"mesh\": \"t.obj\", \"surface\": \"t.obj\", \"superquadrics\": [{\"axes\": [1, 1, 1], "
    "\"exponents\": [1, 1], \"position\": [0, 0, 0], \"quaternion\": [1, 0, 0, 0]}]}");
  each_failure(find_surface_once, "finding a surface", 4);
  each_failure(remesh_once, "writing a body with another mesh", 4);
  each_failure(load_mesh_once, "reading a mesh", 4);
  unlink(in_folder("old.body.json"));
  abut_free_field(&written);
  snprintf(command, sizeof command, "rm -r '%s'", cache);
  CHECK_EQUAL(system(command), 0);
  unlink(in_folder("t.obj"));
}

int main(void)
{
  folder_make();
  each_field();
  each_read();
  each_write();
  folder_remove();
  return check_finish();
}
