#include "core/folder/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "manifest.json"
#define FORMAT 1
/* Files of poses up to this size are hashed completely; for larger ones, this many samples are
 * hashed [bytes]. */
#define WHOLE_BYTES ((uint64_t)16 << 20)
#define SAMPLES 64
#define SAMPLE_BYTES 65536

/* ---- hashes: 64-bit FNV-1a, which detects accidental changes of files ---- */

#define HASH_BEGIN UINT64_C(14695981039346656037)

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
  const unsigned char *at = bytes;
  for (size_t i = 0; i < count; ++i) {
    hash = (hash ^ at[i]) * UINT64_C(1099511628211);
  }
  return hash;
}

/* Hashes up to count bytes. */
static bool hash_part(int file, uint64_t at, uint64_t count, uint64_t *hash)
{
  char bytes[SAMPLE_BYTES];
  while (count) {
    const ssize_t got =
      pread(file, bytes, count < sizeof bytes ? (size_t)count : sizeof bytes, (off_t)at);
    if (got < 0 && errno != EINTR) {
      return false;
    }
    if (got == 0) {
      return true;
    }
    *hash = hash_bytes(*hash, bytes, got < 0 ? 0 : (size_t)got);
    at += (uint64_t)(got < 0 ? 0 : got);
    count -= (uint64_t)(got < 0 ? 0 : got);
  }
  return true;
}

/* Hashes a file. With `sampled`, a large file is hashed by its size and evenly spaced samples,
 * including both ends. */
static exit_code hash_file(const char *path, bool sampled, uint64_t *hash, uint64_t *bytes)
{
  struct stat about;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  bool good = file >= 0 && fstat(file, &about) == 0;
  if (good) {
    const uint64_t size = S_ISREG(about.st_mode) ? (uint64_t)about.st_size : 0;
    const bool whole = !sampled || size <= WHOLE_BYTES;
    *bytes = size;
    *hash = whole ? *hash : hash_bytes(*hash, &size, sizeof size);
    good = !whole || hash_part(file, 0, size, hash);
    for (uint64_t i = 0; i < SAMPLES && !whole && good; ++i) {
      good = hash_part(file, (size - SAMPLE_BYTES) / (SAMPLES - 1) * i, SAMPLE_BYTES, hash);
    }
    good = good && (whole || hash_part(file, size - SAMPLE_BYTES, SAMPLE_BYTES, hash));
  }
  const exit_code code = good ? EXIT_GOOD : report(EXIT_INPUT, "%s: %s", path, strerror(errno));
  if (file >= 0) {
    close(file);
  }
  return code;
}

static json_t *hash_text(uint64_t hash)
{
  char text[20];
  snprintf(text, sizeof text, "%016" PRIx64, hash);
  return json_string(text);
}

/* ---- bodies, scenes, meshes: a file, and the files that it names ---- */

/* Depth of references: a scene names a body, which names a mesh. */
#define NAMED_DEPTH 3

static exit_code hash_named(const char *path, const json_t *value, int depth, uint64_t *hash);
static exit_code hash_file_and_named(const char *path, int depth, uint64_t *hash);

static exit_code hash_members(const char *path, const json_t *value, int depth, uint64_t *hash)
{
  const char *key;
  json_t *member;
  size_t i;
  json_object_foreach((json_t *)(uintptr_t)value, key, member)
  {
    CLI_TRY(hash_named(path, member, depth, hash));
  }
  json_array_foreach((json_t *)(uintptr_t)value, i, member)
  {
    CLI_TRY(hash_named(path, member, depth, hash));
  }
  return EXIT_GOOD;
}

/* Hashes every text that is the name of an existing file, relative to the file that contains it. */
static exit_code hash_named(const char *path, const json_t *value, int depth, uint64_t *hash)
{
  const char *name = json_string_value(value), *slash = strrchr(path, '/');
  const size_t folder = slash && name && *name != '/' ? (size_t)(slash - path) + 1 : 0;
  struct stat about;
  if (!name) {
    return hash_members(path, value, depth, hash);
  }
  char *file = malloc(folder + strlen(name) + 1);
  if (!file) {
    return report(EXIT_RUN, "no memory");
  }
  memcpy(file, path, folder);
  memcpy(file + folder, name, strlen(name) + 1);
  const bool is_file = *name && stat(file, &about) == 0 && S_ISREG(about.st_mode);
  const exit_code code = is_file ? hash_file_and_named(file, depth + 1, hash) : EXIT_GOOD;
  free(file);
  return code;
}

/* Reads the JSON of a body or a scene, which may start with a byte order mark. Returns NULL if this
 * fails; the error is reported when the file is loaded. */
static json_t *json_of_file(const char *path)
{
  FILE *file = fopen(path, "rb");
  char mark[3] = "";
  if (!file) {
    return NULL;
  }
  if (fread(mark, 1, sizeof mark, file) != sizeof mark ||
      memcmp(mark, "\xEF\xBB\xBF", sizeof mark) != 0) {
    rewind(file);
  }
  json_t *text = json_loadf(file, JSON_REJECT_DUPLICATES, NULL);
  fclose(file);
  return text;
}

static exit_code hash_file_and_named(const char *path, int depth, uint64_t *hash)
{
  uint64_t bytes;
  CLI_TRY(hash_file(path, false, hash, &bytes));
  if ((!ends_with(path, ".body.json") && !ends_with(path, ".scene.json")) || depth == NAMED_DEPTH) {
    return EXIT_GOOD;
  }
  json_t *text = json_of_file(path);
  const exit_code code = hash_named(path, text, depth, hash);
  json_decref(text);
  return code;
}

/* Computes one hash for --pairs: of the list and all its bodies. */
static exit_code hash_list(const char *path, uint64_t *hash)
{
  abut_pair_files files = {0};
  uint64_t bytes;
  CLI_TRY(hash_file(path, false, hash, &bytes));
  exit_code code = report_status(abut_load_pairs(path, &files));
  for (size_t i = 0; i < 2 * files.count && code == EXIT_GOOD; ++i) {
    code = hash_file_and_named(files.bodies[i], 0, hash);
  }
  abut_free_pairs(&files);
  return code;
}

static exit_code put_bodies(json_t *m, const options *o)
{
  json_t *hashes = json_array();
  exit_code code = hashes ? EXIT_GOOD : report(EXIT_RUN, "not enough memory for a manifest");
  const bool list = o->value[OPTION_PAIRS] != NULL;
  for (int i = 0; i < (list ? 1 : o->operand_count) && code == EXIT_GOOD; ++i) {
    uint64_t hash = HASH_BEGIN;
    code = list ? hash_list(o->value[OPTION_PAIRS], &hash)
                : hash_file_and_named(o->operands[i], 0, &hash);
    json_array_append_new(hashes, hash_text(hash));
  }
  json_object_set_new(m, "bodies", hashes);
  return code;
}

/* ---- the rest of the manifest ---- */

/* Options that change the results. Files are identified by their content. */
static const option_id counted[] = {OPTION_AS,
                                    OPTION_BY,
                                    OPTION_CELLS,
                                    OPTION_CENTER1,
                                    OPTION_CENTER2,
                                    OPTION_COMPACT,
                                    OPTION_CUTOFF,
                                    OPTION_EDGES,
                                    OPTION_EPSILON,
                                    OPTION_FOLLOW,
                                    OPTION_FULL_HESSIAN,
                                    OPTION_GRADIENT,
                                    OPTION_ITERATIONS,
                                    OPTION_JACOBIAN,
                                    OPTION_KEEP,
                                    OPTION_LEVEL,
                                    OPTION_MEAN_DISTANCE,
                                    OPTION_MOTION,
                                    OPTION_PARAMETERS,
                                    OPTION_RECORD,
                                    OPTION_REDUCE,
                                    OPTION_SAMPLES,
                                    OPTION_SCALE,
                                    OPTION_SEED,
                                    OPTION_SEPARATION,
                                    OPTION_STEPS,
                                    OPTION_TEMPERATURE,
                                    OPTION_THRESHOLD,
                                    OPTION_TOLERANCE,
                                    OPTION_VERTICES};

/* Additional files, besides the bodies and the poses, that change the results. */
static const struct {
  option_id id;
  const char *key;
} files[] = {{OPTION_CONTROLS, "controls"}, {OPTION_COTANGENTS, "cotangents"},
             {OPTION_HESSIAN, "hessian"},   {OPTION_SHAPES, "shapes"},
             {OPTION_TANGENTS, "tangents"}, {OPTION_TO, "to"}};
#define FILES (sizeof files / sizeof *files)

static void put_options(json_t *m, const options *o)
{
  json_t *given = json_object();
  for (size_t i = 0; i < sizeof counted / sizeof *counted; ++i) {
    if (o->value[counted[i]]) {
      json_object_set_new(given, option_name(counted[i]) + 2, json_string(o->value[counted[i]]));
    }
  }
  json_object_set_new(m, "options", given);
}

static json_t *name_json(const char *path)
{
  json_t *name = json_string(base_name(path));
  return name ? name : json_string("?"); /* not UTF-8 */
}

static exit_code put_files(json_t *m, const options *o)
{
  for (size_t i = 0; i < FILES; ++i) {
    uint64_t hash = HASH_BEGIN, bytes;
    if (o->value[files[i].id]) {
      CLI_TRY(hash_file(o->value[files[i].id], true, &hash, &bytes));
      json_object_set_new(m, files[i].key, hash_text(hash));
    }
  }
  return EXIT_GOOD;
}

/* For human readers: names may differ from one machine to another. */
static void put_names(json_t *m, const options *o, option_id input)
{
  json_t *names = json_object(), *bodies = json_array();
  if (o->value[input]) {
    json_object_set_new(names, "poses", name_json(o->value[input]));
  }
  for (int i = 0; i < o->operand_count; ++i) {
    json_array_append_new(bodies, name_json(o->operands[i]));
  }
  if (o->value[OPTION_PAIRS]) {
    json_array_append_new(bodies, name_json(o->value[OPTION_PAIRS]));
  }
  json_object_set_new(names, "bodies", bodies);
  for (size_t i = 0; i < FILES; ++i) {
    if (o->value[files[i].id]) {
      json_object_set_new(names, files[i].key, name_json(o->value[files[i].id]));
    }
  }
  json_object_set_new(m, "names", names);
}

/* Without a file, all worlds have the same initial state. */
static exit_code put_poses(json_t *m, const options *o, option_id input,
                           const abut_pose_file_info *info)
{
  const char *kind = input == OPTION_STATES          ? "world"
                     : info->kind == ABUT_POSE_TWIST ? "twist"
                                                     : "quaternion";
  uint64_t hash = HASH_BEGIN, bytes = 0;
  CLI_TRY(o->value[input] ? hash_file(o->value[input], true, &hash, &bytes) : EXIT_GOOD);
  json_t *poses = json_object();
  json_object_set_new(poses, "count", json_integer((json_int_t)info->count));
  json_object_set_new(poses, "kind", json_string(kind));
  json_object_set_new(poses, "bytes", json_integer((json_int_t)bytes));
  json_object_set_new(poses, "hash", hash_text(hash));
  json_object_set_new(m, "poses", poses);
  return EXIT_GOOD;
}

static exit_code put_smoothing(json_t *m, const char *key, const abut_smoothing *s,
                               const char *given)
{
  char *text = NULL;
  CLI_TRY(given ? EXIT_GOOD : report_status(abut_format_smoothing(s, &text)));
  json_object_set_new(m, key, json_loads(given ? given : text, JSON_DECODE_ANY, NULL));
  abut_free(text);
  return EXIT_GOOD;
}

static const char *const row_words[] = {[OUTPUT_OF_POSES] = "poses",
                                        [OUTPUT_OF_ENTRIES] = "entries",
                                        [OUTPUT_ONCE] = "once",
                                        [OUTPUT_OF_STATES] = "states"};
static const struct {
  abut_array_type type;
  const char *name;
} dtypes[] = {{ABUT_ARRAY_FLOAT32, "float32"}, {ABUT_ARRAY_FLOAT64, "float64"},
              {ABUT_ARRAY_UINT8, "uint8"},     {ABUT_ARRAY_UINT32, "uint32"},
              {ABUT_ARRAY_INT32, "int32"},     {ABUT_ARRAY_INT64, "int64"}};
#define DTYPES (sizeof dtypes / sizeof *dtypes)

static void put_arrays(json_t *m, const outputs *l, size_t poses)
{
  json_t *arrays = json_object();
  for (size_t i = 0; i < l->count; ++i) {
    const abut_array *a = &l->arrays[i];
    json_t *one = json_object(), *shape = json_array();
    for (size_t k = 0; k < DTYPES; ++k) {
      if (dtypes[k].type == a->type) {
        json_object_set_new(one, "dtype", json_string(dtypes[k].name));
      }
    }
    for (uint32_t k = 0; k < a->dimensions; ++k) {
      const bool rows = (k == 0 && l->of[i] == OUTPUT_OF_POSES) ||
                        (k == 1 && l->of[i] == OUTPUT_OF_STATES);
      json_array_append_new(shape, json_integer((json_int_t)(rows ? poses : a->shape[k])));
    }
    json_object_set_new(one, "rows", json_string(row_words[l->of[i]]));
    json_object_set_new(one, "shape", shape);
    json_object_set_new(arrays, a->name, one);
  }
  json_object_set_new(m, "arrays", arrays);
}

exit_code manifest_make(const options *o, const session *s, option_id input,
                        const abut_pose_file_info *poses, const outputs *described, json_t **out)
{
  json_t *m = json_object();
  exit_code code = EXIT_GOOD;
  *out = NULL;
  json_object_set_new(m, "abut_folder", json_integer(FORMAT));
  json_object_set_new(m, "abut", json_string(abut_version()));
  json_object_set_new(m, "command", json_string(o->command->name));
  put_options(m, o);
  CLI_TRY_DONE(put_poses(m, o, input, poses));
  CLI_TRY_DONE(put_bodies(m, o));
  if (!((int)o->command->bit & UNSMOOTHED_COMMANDS)) {
    CLI_TRY_DONE(put_smoothing(m, "smoothing", &s->smoothing, s->smoothing_text));
  }
  if (o->value[OPTION_SOFT]) {
    CLI_TRY_DONE(put_smoothing(m, "soft", &s->soft_smoothing, NULL));
  }
  CLI_TRY_DONE(put_files(m, o));
  put_arrays(m, described, poses->count);
  put_names(m, o, input);
  json_object_set_new(m, "complete", json_false());
  code = m ? EXIT_GOOD : report(EXIT_RUN, "not enough memory for a manifest");
done:
  if (code == EXIT_GOOD) {
    *out = m;
  } else {
    json_decref(m);
  }
  return code;
}

/* ---- on disk ---- */

static char *manifest_path(const char *folder)
{
  char *path = malloc(strlen(folder) + sizeof NAME);
  if (path) {
    memcpy(path, folder, strlen(folder));
    memcpy(path + strlen(folder), NAME, sizeof NAME);
  }
  return path;
}

static exit_code read_at(const char *path, json_t **out)
{
  json_error_t error;
  if (access(path, R_OK) != 0) {
    return errno == ENOENT ? EXIT_GOOD : report(EXIT_INPUT, "%s: %s", path, strerror(errno));
  }
  *out = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
  if (!*out && error.line < 1) { /* the file could not be read at all */
    return report(EXIT_INPUT, "%s: %s", path, error.text);
  }
  if (!*out) {
    return report(EXIT_INPUT, "%s:%d: %s", path, error.line, error.text);
  }
  const json_t *format = json_object_get(*out, "abut_folder");
  if (!json_is_integer(format)) {
    return report(EXIT_INPUT, "%s: is not a manifest of abut", path);
  }
  return json_integer_value(format) == FORMAT
           ? EXIT_GOOD
           : report(EXIT_INPUT, "%s: has format %lld, but this abut needs format %d", path,
                    (long long)json_integer_value(format), FORMAT);
}

exit_code manifest_read(const char *folder, json_t **out)
{
  char *path = manifest_path(folder);
  *out = NULL;
  exit_code code = path ? read_at(path, out) : report(EXIT_RUN, "no memory");
  if (code != EXIT_GOOD) {
    json_decref(*out);
    *out = NULL;
  }
  free(path);
  return code;
}

exit_code manifest_write(const char *folder, const json_t *manifest)
{
  char *path = manifest_path(folder),
       *text = json_dumps(manifest, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
  exit_code code = path && text ? EXIT_GOOD : report(EXIT_RUN, "not enough memory for a manifest");
  if (code == EXIT_GOOD && report_status(abut_write_file(path, text, strlen(text))) != EXIT_GOOD) {
    code = EXIT_INPUT; /* like other errors of a folder that cannot grow */
  }
  free(text);
  free(path);
  return code;
}

/* ---- comparison ---- */

static const struct {
  const char *key, *what;
} identity[] = {{"abut", "version of abut"},      {"command", "command"},
                {"options", "set of options"},    {"poses", "file of poses or states"},
                {"bodies", "pair of bodies"},     {"smoothing", "smoothing"},
                {"soft", "soft smoothing"},       {"tangents", "file of tangents"},
                {"shapes", "file of shapes"},     {"to", "file of poses at time 1"},
                {"controls", "file of controls"}, {"cotangents", "file of cotangents"},
                {"hessian", "file of tangents"},  {"arrays", "list of arrays"}};
#define IDENTITY (sizeof identity / sizeof *identity)

/* The lengths of lists do not count. */
static json_t *counted_value(const json_t *manifest, const char *key)
{
  json_t *value = json_deep_copy(json_object_get(manifest, key)), *array;
  const char *name;
  if (strcmp(key, "arrays") != 0) {
    return value;
  }
  json_object_foreach(value, name, array)
  {
    const char *rows = json_string_value(json_object_get(array, "rows"));
    if (rows && strcmp(rows, row_words[OUTPUT_OF_ENTRIES]) == 0) {
      json_array_set_new(json_object_get(array, "shape"), 0, json_integer(0));
    }
  }
  return value;
}

static exit_code differ(const char *begun, size_t i, const json_t *there, const json_t *here)
{
  const size_t flags = JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS;
  char *a = there ? json_dumps(there, flags) : NULL, *b = here ? json_dumps(here, flags) : NULL;
  const exit_code code = report(EXIT_INPUT, "%s another %s: %.200s there, %.200s here", begun,
                                identity[i].what, a ? a : "none", b ? b : "none");
  free(a);
  free(b);
  return code;
}

exit_code manifest_compare(const char *begun, const json_t *there, const json_t *here)
{
  for (size_t i = 0; i < IDENTITY; ++i) {
    json_t *a = counted_value(there, identity[i].key), *b = counted_value(here, identity[i].key);
    const bool same = (!a && !b) || json_equal(a, b);
    const exit_code code = same ? EXIT_GOOD : differ(begun, i, a, b);
    json_decref(a);
    json_decref(b);
    CLI_TRY(code);
  }
  return EXIT_GOOD;
}

exit_code manifest_compare_folder(const char *folder, const json_t *there, const json_t *here)
{
  static const char words[] = ": was started with";
  char *begun = malloc(strlen(folder) + sizeof words);
  if (!begun) {
    return report(EXIT_RUN, "no memory");
  }
  memcpy(begun, folder, strlen(folder));
  memcpy(begun + strlen(folder), words, sizeof words);
  const exit_code code = manifest_compare(begun, there, here);
  free(begun);
  return code;
}

uint64_t manifest_inputs(const json_t *manifest)
{
  uint64_t hash = HASH_BEGIN;
  for (size_t i = 0; i < IDENTITY; ++i) {
    json_t *value = counted_value(manifest, identity[i].key);
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS) : NULL;
    hash = hash_bytes(hash, text ? text : "", text ? strlen(text) + 1 : 1);
    free(text);
    json_decref(value);
  }
  return hash;
}

/* ---- queries ---- */

bool manifest_is_complete(const json_t *manifest)
{
  return json_is_true(json_object_get(manifest, "complete"));
}

const char *manifest_version(const json_t *manifest)
{
  const char *version = json_string_value(json_object_get(manifest, "abut"));
  return version ? version : "?";
}

const char *manifest_rows(const json_t *manifest)
{
  const char *kind = json_string_value(json_object_get(json_object_get(manifest, "poses"), "kind"));
  return kind && strcmp(kind, "world") == 0 ? "worlds" : "poses";
}

uint64_t manifest_poses(const json_t *manifest)
{
  return (uint64_t)json_integer_value(json_object_get(json_object_get(manifest, "poses"), "count"));
}

static bool read_array(const char *name, const json_t *described, outputs *out)
{
  const char *dtype = json_string_value(json_object_get(described, "dtype"));
  const char *rows = json_string_value(json_object_get(described, "rows"));
  const json_t *shape = json_object_get(described, "shape");
  size_t type = 0, of = 0;
  if (!dtype || !rows || !*name || strchr(name, '/') || out->count == OUTPUTS_MOST ||
      json_array_size(shape) > 4 || !json_array_size(shape)) {
    return false;
  }
  for (; type < DTYPES && strcmp(dtypes[type].name, dtype) != 0; ++type) {
  }
  for (; of <= OUTPUT_OF_STATES && strcmp(row_words[of], rows) != 0; ++of) {
  }
  if (type == DTYPES || of > OUTPUT_OF_STATES) {
    return false;
  }
  abut_array a = {.name = name,
                  .type = dtypes[type].type,
                  .dimensions = (uint32_t)json_array_size(shape)};
  for (size_t i = 0; i < a.dimensions; ++i) {
    const json_t *extent = json_array_get(shape, i);
    if (!json_is_integer(extent) || json_integer_value(extent) < 0) {
      return false;
    }
    a.shape[i] = (size_t)json_integer_value(extent);
  }
  out->of[out->count] = (output_of)of;
  out->arrays[out->count++] = a;
  return true;
}

exit_code manifest_arrays(const char *folder, const json_t *manifest, outputs *out)
{
  const char *name;
  json_t *described;
  json_object_foreach(json_object_get(manifest, "arrays"), name, described)
  {
    if (!read_array(name, described, out)) {
      return report(EXIT_INPUT, "%s" NAME ": array '%s' is not described as an array of abut",
                    folder, name);
    }
  }
  return EXIT_GOOD;
}

exit_code manifest_complete(json_t *manifest, uint64_t entries, json_t *devices)
{
  const char *name;
  json_t *array;
  json_object_foreach(json_object_get(manifest, "arrays"), name, array)
  {
    const char *rows = json_string_value(json_object_get(array, "rows"));
    if (rows && strcmp(rows, row_words[OUTPUT_OF_ENTRIES]) == 0) {
      json_array_set_new(json_object_get(array, "shape"), 0, json_integer((json_int_t)entries));
    }
  }
  const bool good = json_object_set_new(manifest, "devices", devices) == 0 &&
                    json_object_set_new(manifest, "complete", json_true()) == 0;
  return good ? EXIT_GOOD : report(EXIT_RUN, "not enough memory for a manifest");
}
