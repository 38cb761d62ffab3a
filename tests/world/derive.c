#include "derive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const derive_names[BY_ALL] = {"q",        "v",         "u",      "mass_scale",
                                          "friction", "stiffness", "gravity"};

static void *zeros(size_t count, size_t size)
{
  void *out = calloc(count + 1, size);
  REQUIRE(out != NULL);
  return out;
}

/* ---- scenes ---- */

static char *read_text(const char *folder, const char *name)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/%s.scene.json", folder, name);
  FILE *file = fopen(path, "r");
  char *text = zeros(1 << 16, 1);
  REQUIRE(file != NULL);
  const size_t length = fread(text, 1, 1 << 16, file);
  REQUIRE(length > 0 && length < 1 << 16 && fclose(file) == 0);
  return text;
}

typedef struct replacement {
  const char *from, *to;
} replacement;

/* Copies text to a file, with each of `all` replaced; the first that fits counts. */
static void write_with(FILE *file, const char *text, const replacement *all, size_t count)
{
  while (*text) {
    size_t i = 0;
    while (i < count && strncmp(text, all[i].from, strlen(all[i].from)) != 0) {
      ++i;
    }
    if (i < count) {
      REQUIRE(fputs(all[i].to, file) >= 0);
      text += strlen(all[i].from);
    } else {
      REQUIRE(fputc(*text++, file) != EOF);
    }
  }
}

abut_status derive_load(const char *folder, const char *assets, const derive_scene *of,
                        abut_context context, abut_scene *scene)
{
  char path[64];
  char *text = read_text(folder, of->file);
  snprintf(path, sizeof path, "derive-%ld.scene.json", (long)getpid());
  FILE *file = fopen(path, "w");
  REQUIRE(file && text[0] == '{');
  REQUIRE(fprintf(file, "{%s%s", of->options, *of->options ? ", " : "") > 0);
  char beside[1024], in_assets[1024]; /* files of the scene's own folder; of assets */
  snprintf(beside, sizeof beside, "\"file\": \"%s/", folder);
  snprintf(in_assets, sizeof in_assets, "\"file\": \"%s", assets);
  const replacement all[] = {{"\"file\": \"ASSETS", in_assets},
                             {"\"file\": \"", beside},
                             {"\"condim\": 3",
                              of->condim == 1 ? "\"condim\": 1" : "\"condim\": 3"}};
  write_with(file, text + 1, all, sizeof all / sizeof *all);
  REQUIRE(fclose(file) == 0);
  const abut_status status = abut_load_scene(context, path, scene);
  free(text);
  remove(path);
  return status;
}

/* ---- states ---- */

/* What is not there has no derivatives to be wrong, and those of deep overlaps are those of what
 * pushes there. */
#define LEFT_OUT (~(uint32_t)(ABUT_WORLD_OVERFLOW | ABUT_WORLD_DEEP))

static void widths(derive *d)
{
  const abut_scene_info *i = &d->info;
  const size_t width[] = {i->nq, i->nv, i->nu, i->links, i->parameters, i->parameters, 3};
  for (int k = 0; k < BY_ALL; ++k) {
    d->width[k] = width[k];
    d->columns[k] = k == BY_Q ? i->nv : width[k];
    d->first[k] = d->all;
    d->all += d->columns[k];
  }
}

static void allocate(derive *d, size_t count)
{
  d->count = count;
  for (int k = 0; k < BY_ALL; ++k) {
    d->at[k] = zeros(count * d->width[k], sizeof(double));
  }
}

void derive_close(derive *d)
{
  for (int k = 0; k < BY_ALL; ++k) {
    free(d->at[k]);
  }
}

abut_worlds derive_call(const derive *d)
{
  abut_worlds w = abut_default_worlds();
  w.count = d->count;
  w.steps = d->steps;
  w.q = d->at[BY_Q];
  w.v = d->at[BY_V];
  w.u = d->info.nu ? d->at[BY_U] : NULL;
  w.mass_scale = d->at[BY_MASS_SCALE];
  w.friction = d->info.parameters ? d->at[BY_FRICTION] : NULL;
  w.stiffness = d->info.parameters ? d->at[BY_STIFFNESS] : NULL;
  w.gravity = d->at[BY_GRAVITY];
  return w;
}

abut_worlds_gradients derive_gradients(const abut_scene_info *info, void *const to[BY_ALL])
{
  abut_worlds_gradients g = abut_default_worlds_gradients();
  g.q = to[BY_Q];
  g.v = to[BY_V];
  g.u = info->nu ? to[BY_U] : NULL;
  g.mass_scale = to[BY_MASS_SCALE];
  g.friction = info->parameters ? to[BY_FRICTION] : NULL;
  g.stiffness = info->parameters ? to[BY_STIFFNESS] : NULL;
  g.gravity = to[BY_GRAVITY];
  return g;
}

/* Parameters of each world its own. */
static void scatter_all(derive *d, const double scatter[3], uint64_t *random)
{
  double *start = zeros(d->info.nq, sizeof *start), *by = zeros(d->count * d->info.nv, sizeof *by);
  REQUIRE_OK(abut_get_scene_start(d->scene, start));
  for (size_t i = 0; i < d->count * d->info.nq; ++i) {
    d->at[BY_Q][i] = start[i % d->info.nq];
  }
  for (size_t i = 0; i < d->count * d->info.nv; ++i) {
    by[i] = scatter[0] * random_normal(random);
    d->at[BY_V][i] = scatter[1] * random_normal(random);
  }
  REQUIRE_OK(abut_add_positions(d->scene, d->count, d->at[BY_Q], by, d->at[BY_Q]));
  for (int k = BY_U; k < BY_ALL; ++k) {
    for (size_t i = 0; i < d->count * d->width[k]; ++i) {
      const double normal = random_normal(random);
      d->at[k][i] = k == BY_U         ? (scatter[2] > 0.0 ? scatter[2] : 1.0) * normal
                    : k == BY_GRAVITY ? (i % 3 == 2 ? -9.81 : 0.0) + 0.2 * normal
                                      : (k == BY_FRICTION ? 0.6 : 1.0) * exp(0.1 * normal);
    }
  }
  free(start);
  free(by);
}

void derive_open(derive *d, abut_scene scene, size_t starts, size_t keep, size_t every,
                 const double scatter[3], uint64_t *random)
{
  derive begin = {.scene = scene, .steps = keep * every};
  REQUIRE_OK(abut_get_scene_info(scene, &begin.info));
  widths(&begin);
  *d = begin;
  d->steps = 1;
  allocate(&begin, starts);
  allocate(d, starts * keep);
  scatter_all(&begin, scatter, random);
  uint32_t *status = zeros(starts, sizeof *status);
  abut_worlds w = derive_call(&begin);
  w.record = every;
  w.q_record = d->at[BY_Q];
  w.v_record = d->at[BY_V];
  w.status = status;
  CHECK_OK(abut_step_worlds(scene, &w));
  d->count = 0;
  for (size_t i = 0; i < starts * keep; ++i) {
    for (int k = 0; k < BY_ALL && !(status[i / keep] & LEFT_OUT); ++k) {
      const double *from = k <= BY_V ? d->at[k] + i * d->width[k]
                                     : begin.at[k] + i / keep * d->width[k];
      memmove(d->at[k] + d->count * d->width[k], from, d->width[k] * sizeof *from);
    }
    d->count += !(status[i / keep] & LEFT_OUT);
  }
  free(status);
  derive_close(&begin);
}

/* ---- differences ---- */

enum { SIDES = 4 }; /* of each column: h, -h, h / 2, -h / 2 */
static const double sides[SIDES] = {1.0, -1.0, 0.5, -0.5};

/* Contacts are steep in q, and borders between their zones near; of others rounding is more. */
static double length_of(const derive *d, int by)
{
  return d->length > 0.0 ? d->length : by == BY_Q ? 2e-7 : 2e-6;
}

/* World i as it is, then with each column changed to all sides. */
static void spread(const derive *d, size_t i, const derive *out)
{
  double *steps = zeros(out->count * d->info.nv, sizeof *steps);
  for (int k = 0; k < BY_ALL; ++k) {
    for (size_t world = 0; world < out->count; ++world) {
      memcpy(out->at[k] + world * d->width[k], d->at[k] + i * d->width[k],
             d->width[k] * sizeof(double));
    }
    for (size_t c = 0; c < d->columns[k]; ++c) {
      for (size_t side = 0; side < SIDES; ++side) {
        const size_t world = 1 + (d->first[k] + c) * SIDES + side;
        double *to = k == BY_Q ? steps + world * d->info.nv : out->at[k] + world * d->width[k];
        to[c] += length_of(d, k) * sides[side];
      }
    }
  }
  REQUIRE_OK(abut_add_positions(d->scene, out->count, out->at[BY_Q], steps, out->at[BY_Q]));
  free(steps);
}

/* The state after all steps of each, against that of the first. */
static void states_of(const derive *d, double *states)
{
  const size_t nq = d->info.nq, nv = d->info.nv;
  double *q = zeros(d->count * nq, sizeof *q), *v = zeros(d->count * nv, sizeof *v);
  double *base = zeros(d->count * nq, sizeof *base), *moved = zeros(d->count * nv, sizeof *moved);
  abut_worlds w = derive_call(d);
  w.q_next = q;
  w.v_next = v;
  CHECK_OK(abut_step_worlds(d->scene, &w));
  for (size_t i = 0; i < d->count; ++i) {
    memcpy(base + i * nq, q, nq * sizeof *q);
  }
  REQUIRE_OK(abut_subtract_positions(d->scene, d->count, q, base, moved));
  for (size_t i = 0; i < d->count; ++i) {
    for (size_t k = 0; k < nv; ++k) {
      states[i * 2 * nv + k] = moved[i * nv + k];
      states[i * 2 * nv + nv + k] = v[i * nv + k] - v[k];
    }
  }
  free(q);
  free(v);
  free(base);
  free(moved);
}

/* Of one column: `s` its four states, the first world's being 0. A bend within the length of either
 * side shows in one of the two comparisons at least as large as a fifth of what it does to `by`. */
static bool difference(const double *s, size_t n, double length, double *by)
{
  double most = 0.0, doubt = 0.0;
  for (size_t k = 0; k < n; ++k) {
    const double far = (s[k] - s[n + k]) / (2.0 * length);
    const double near = (s[2 * n + k] - s[3 * n + k]) / length;
    const double bend = (s[k] + s[n + k] - 4.0 * (s[2 * n + k] + s[3 * n + k])) / (2.0 * length);
    by[k] = (4.0 * near - far) / 3.0;
    most = fmax(most, fabs(by[k]));
    doubt = fmax(doubt, fmax(fabs(far - near), fabs(bend)));
  }
  return !(doubt <= 2e-6 * most + 2e-15 / length);
}

void derive_differences(const derive *d, double *by, bool *border)
{
  const size_t n = 2 * d->info.nv;
  derive out = *d;
  allocate(&out, 1 + SIDES * d->all);
  double *states = zeros(out.count * n, sizeof *states);
  for (size_t i = 0; i < d->count; ++i) {
    spread(d, i, &out);
    states_of(&out, states);
    for (size_t c = 0; c < d->all; ++c) {
      const size_t at = i * d->all + c;
      const double length = length_of(d, c < d->columns[BY_Q] ? BY_Q : BY_V);
      border[at] = difference(states + (1 + c * SIDES) * n, n, length, by + at * n);
    }
  }
  free(states);
  derive_close(&out);
}
