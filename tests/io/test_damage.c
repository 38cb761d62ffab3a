/* Good files cut at every byte, and with bytes changed: an error or a valid result, never more.
 * Each of the many reads is a check only where it fails. */
#include "device/tuning_file.h"
#include "family/grid_file.h"
#include "format/assimp_mesh.h"
#include "format/mesh.h"
#include "format/npz.h"
#include "io/body_file.h"
#include "io/pairs.h"
#include "io/poses.h"
#include "io/smoothing_file.h"
#include "samples.h"
#include "support.h"
#include "world/scene_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FLIPS = 4000 };

static bool mesh_is_sound(const mesh *m)
{
  size_t corners = 0;
  bool sound = m->vertex_count > 0;
  for (size_t i = 0; i < 3 * m->vertex_count; i++) {
    sound &= isfinite(m->vertices[i]) != 0;
  }
  for (size_t i = 0; i < m->face_count; i++) {
    sound &= m->face_sizes[i] >= 3;
    corners += m->face_sizes[i];
  }
  sound &= corners == m->index_count;
  for (size_t i = 0; sound && i < corners; i++) {
    sound &= m->face_indices[i] < m->vertex_count;
  }
  for (size_t i = 0; i < 2 * m->edge_count; i++) {
    sound &= m->edges[i] < m->vertex_count;
  }
  return sound;
}

static abut_status read_mesh(sample_kind kind, const char *bytes, size_t count)
{
  mesh m;
  abut_status status = kind == SAMPLE_ASSIMP ? assimp_record_parse("t", bytes, count, &m)
                                             : mesh_parse("t", (mesh_format)kind, bytes, count, &m);
  if (status == ABUT_SUCCESS) {
    if (!mesh_is_sound(&m)) {
      check(false, "a mesh that is not sound was taken");
    }
  }
  mesh_free(&m);
  return status;
}

static abut_status read_sample(sample_kind kind, const char *bytes, size_t count)
{
  body_file b;
  abut_grid g;
  arena memory = {0};
  abut_smoothing s;
  abut_pair_files f;
  tuning_file t;
  scene_def d;
  abut_npz n;
  abut_poses p;
  abut_status status;
  switch (kind) {
  case SAMPLE_BODY:
    status = body_file_parse("t", bytes, count, &b);
    body_file_free(&b);
    return status;
  case SAMPLE_SMOOTHING:
    return smoothing_parse("t", bytes, count, &s);
  case SAMPLE_TUNING:
    status = tuning_file_parse("t", bytes, count, &t);
    tuning_file_free(&t);
    return status;
  case SAMPLE_PAIRS:
    status = pairs_parse("t", bytes, count, &f);
    abut_free_pairs(&f);
    return status;
  case SAMPLE_SCENE:
    status = scene_file_parse("t", bytes, count, &d);
    scene_def_free(&d);
    return status;
  case SAMPLE_GRID:
    status = grid_file_parse("t", bytes, count, &memory, &g);
    arena_free(&memory);
    return status;
  case SAMPLE_NPZ:
    status = npz_parse("t", bytes, count, &n);
    abut_free_npz(&n);
    return status;
  case SAMPLE_CSV:
    status = poses_parse_csv("t", bytes, count, &p);
    abut_free_poses(&p);
    return status;
  default:
    return read_mesh(kind, bytes, count);
  }
}

/* A copy of exactly `count` bytes, so that a sanitizer sees what is read beyond. */
static abut_status read_copy(sample_kind kind, const char *bytes, size_t count)
{
  char *copy = malloc(count ? count : 1);
  require(copy != NULL);
  memcpy(copy, bytes, count);
  abut_status status = read_sample(kind, copy, count);
  if (status != ABUT_SUCCESS) {
    if (status != ABUT_ERROR_FORMAT || strncmp(abut_last_error(), "t:", 2) != 0) {
      check(false, "%s, %s", abut_status_name(status), abut_last_error());
    }
  }
  free(copy);
  return status;
}

/* How much of a file's end may be missing unseen: blanks, a name, or all but a line of a text that
 * has no end mark. Everything shorter must be refused. */
static size_t loss_allowed(sample_kind kind, size_t number)
{
  switch (kind) {
  case SAMPLE_OBJ:
  case SAMPLE_CSV:
  case SAMPLE_PAIRS:
    return SIZE_MAX;
  case SAMPLE_STL:
    return number == 0 ? strlen(" tetra\n") : 0;
  case SAMPLE_PLY:
    return number == 0 ? strlen("0.25\n") - 1 : 0;
  case SAMPLE_OFF:
    return 1;
  case SAMPLE_BODY:
  case SAMPLE_SMOOTHING:
  case SAMPLE_TUNING:
  case SAMPLE_SCENE:
    return 1;
  default:
    return 0;
  }
}

static void cut_everywhere(void)
{
  for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
    sample s[SAMPLE_LIMIT];
    size_t count = samples_make((sample_kind)kind, s);
    for (size_t i = 0; i < count; i++) {
      CHECK_OK(read_copy((sample_kind)kind, s[i].bytes, s[i].count));
      for (size_t length = 0; length < s[i].count; length++) {
        abut_status status = read_copy((sample_kind)kind, s[i].bytes, length);
        if (status == ABUT_SUCCESS && s[i].count - length > loss_allowed((sample_kind)kind, i)) {
          check(false, "kind %d, sample %zu: %zu of %zu bytes were taken", kind, i, length,
                s[i].count);
        }
      }
      free(s[i].bytes);
    }
  }
}

static void change_bytes(void)
{
  uint64_t x = 88172645463325252u;
  for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
    sample s[SAMPLE_LIMIT];
    size_t count = samples_make((sample_kind)kind, s), refused = 0;
    for (int k = 0; k < FLIPS; k++) {
      sample *one = &s[(size_t)k % count];
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      size_t at = (size_t)(x >> 20) % one->count;
      char before = one->bytes[at];
      one->bytes[at] = k % 2 ? (char)(before ^ (1 << (x & 7))) : (char)(x >> 8);
      refused += read_copy((sample_kind)kind, one->bytes, one->count) != ABUT_SUCCESS;
      one->bytes[at] = before;
    }
    CHECK(refused > FLIPS / 20); /* the damage did reach the parsers */
    for (size_t i = 0; i < count; i++) {
      free(s[i].bytes);
    }
  }
}

static void only_noise(void)
{
  uint64_t x = 1;
  size_t taken = 0;
  for (int k = 0; k < 500; k++) {
    char bytes[200];
    for (size_t i = 0; i < sizeof bytes; i++) {
      x = x * 6364136223846793005u + 1442695040888963407u;
      bytes[i] = (char)(x >> 56);
    }
    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
      taken += read_copy((sample_kind)kind, bytes, sizeof bytes) == ABUT_SUCCESS;
    }
  }
  CHECK_EQUAL(taken, 0);
}

int main(void)
{
  cut_everywhere();
  change_bytes();
  only_noise();
  return check_finish();
}
