/* Where settings of speed come from: rows of a table, the user's file above them, the caller above
 * both; and what a file may hold. */
#define _XOPEN_SOURCE 700
#include "support/check.h"

#include "engine/device/kernels.h"
#include "engine/device/tuning_file.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB ((uint64_t)1 << 20)

static abut_device_info device(const char *name, const char *architecture, const char *vendor,
                               const char *platform, abut_device_type type)
{
  abut_device_info d = {.type = type};
  snprintf(d.name, sizeof d.name, "%s", name);
  snprintf(d.architecture, sizeof d.architecture, "%s", architecture);
  snprintf(d.vendor, sizeof d.vendor, "%s", vendor);
  snprintf(d.platform, sizeof d.platform, "%s", platform);
  return d;
}

/* ---- the table ---- */

/* In no order that helps. */
static const tuning_row rows[] = {
  {"default", NULL, NULL, NULL, NULL, ANY_TYPE, {1, 1}, 1, 1, MIB, NULL},
  {"type", NULL, NULL, NULL, NULL, ABUT_DEVICE_GPU, {1, 1}, 1, 1, MIB, NULL},
  {"name", "H200", NULL, NULL, NULL, ANY_TYPE, {1, 1}, 1, 1, MIB, NULL},
  {"vendor", NULL, NULL, "NVIDIA", NULL, ANY_TYPE, {1, 1}, 1, 1, MIB, NULL},
  {"platform", NULL, NULL, NULL, "PoCL", ANY_TYPE, {1, 1}, 1, 1, MIB, NULL},
  {"architecture", NULL, "sm_90", NULL, NULL, ANY_TYPE, {1, 1}, 1, 1, MIB, NULL},
  {"vendor again", NULL, NULL, "NVIDIA", NULL, ANY_TYPE, {1, 1}, 1, 1, MIB, NULL},
  {"witness", NULL, NULL, NULL, NULL, ABUT_DEVICE_GPU, {1, 1}, 2, 2, MIB, "witness"},
  {"witness of NVIDIA", NULL, NULL, "NVIDIA", NULL, ANY_TYPE, {1, 1}, 2, 2, MIB, "witness"},
};

static void module_picks(const abut_device_info *d, const char *module, const char *label)
{
  const tuning_row *row = tuning_pick(rows, sizeof rows / sizeof *rows, d, module);
  check(row && strcmp(row->label, label) == 0, "\"%s\" (%s) takes the row %s, not %s", d->name,
        d->architecture, row ? row->label : "none", label);
}

static void picks(const abut_device_info *d, const char *label)
{
  module_picks(d, NULL, label);
  module_picks(d, "manifold", label); /* of which no row is */
}

static void test_order(void)
{
  abut_device_info d = device("NVIDIA H200", "sm_90", "NVIDIA", "CUDA", ABUT_DEVICE_GPU);
  picks(&d, "name");
  module_picks(&d, "witness", "witness of NVIDIA");
  d = device("NVIDIA H100", "sm_90", "NVIDIA Corporation", "PoCL", ABUT_DEVICE_GPU);
  picks(&d, "architecture");
  d = device("NVIDIA L4", "sm_9", "NVIDIA Corporation", "CUDA", ABUT_DEVICE_GPU);
  picks(&d, "vendor"); /* and not its equal behind it; no part of an architecture counts */
  d = device("gfx90a", "gfx90a", "AMD", "AMD", ABUT_DEVICE_GPU);
  picks(&d, "type");
  module_picks(&d, "witness", "witness");
  d = device("EPYC", "", "AMD", "PoCL", ABUT_DEVICE_CPU);
  picks(&d, "platform");
  d = device("", "", "", "", ABUT_DEVICE_OTHER);
  picks(&d, "default");
  check(!tuning_pick(rows + 2, 1, &d, NULL), "a row of another name fits");
}

static void test_own_rows(void)
{
  const struct {
    abut_device_info info;
    const char *label;
  } cases[] = {
    {device("host", "", "abut", "abut", ABUT_DEVICE_HOST), "the host path"},
    {device("cpu-haswell", "", "AMD", "Portable Computing Language", ABUT_DEVICE_CPU), "PoCL"},
    {device("llvmpipe (LLVM 15)", "", "Mesa", "rusticl", ABUT_DEVICE_CPU), "llvmpipe"},
    {device("AMD EPYC", "", "Intel", "Intel(R) OpenCL", ABUT_DEVICE_CPU), "Intel's CPU runtime"},
    {device("a", "", "", "b", ABUT_DEVICE_CPU), "a CPU"},
    {device("a", "sm_50", "NVIDIA", "b", ABUT_DEVICE_GPU), "a GPU"},
    {device("a", "", "", "b", ABUT_DEVICE_OTHER), "a device"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const tuning_row *row = tuning_row_of(&cases[i].info, NULL);
    check(strcmp(row->label, cases[i].label) == 0, "%s takes the row of %s", cases[i].label,
          row->label);
    for (int p = 0; p < 2; ++p) {
      int which;
      const char *range;
      const tuning t = tuning_of_row(row, &cases[i].info, (abut_precision)p);
      check(tuning_holds(&t, &which, &range), "%s: number %d is not %s", row->label, which, range);
      check(t.lanes == row->lanes[p], "%s: lanes of the other precision", row->label);
    }
  }
  check(tuning_row_of(&cases[5].info, "world")->group == 32,
        "worlds on NVIDIA: no group of a warp");
}

/* Chunks of GPUs take a share of the memory; those of other devices do not. */
static void test_scratch(void)
{
  static const struct {
    uint64_t memory, gpu; /* [MiB] */
  } cases[] = {{0, 512}, {4096, 512}, {17 << 10, 544}, {139 << 10, 4448}, {1 << 20, 8192}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    abut_device_info gpu = device("a", "", "", "b", ABUT_DEVICE_GPU),
                     cpu = device("a", "", "", "Portable Computing Language", ABUT_DEVICE_CPU);
    gpu.memory_bytes = cpu.memory_bytes = cases[i].memory * MIB;
    const tuning of_gpu = tuning_find(NULL, &gpu, ABUT_FLOAT32, "manifold", NULL),
                 of_cpu = tuning_find(NULL, &cpu, ABUT_FLOAT32, "manifold", NULL);
    CHECK_EQUAL(of_gpu.scratch_bytes / MIB, cases[i].gpu);
    CHECK_EQUAL(of_cpu.scratch_bytes / MIB, 32);
  }
}

/* ---- files ---- */

#define ENTRY "\"name\": \"d\", \"platform\": \"p\", \"precision\": \"f32\""
#define VALUES "\"lanes\": 8, \"group\": 2, \"items\": 3, \"scratch_bytes\": 65536"
#define REST "\"group\": 2, \"items\": 3, \"scratch_bytes\": 65536"
#define OF_FIELD ENTRY ", \"module\": \"field\""
#define FILE_OF(entries) "{\"devices\": [\n" entries "]}"

static const struct {
  const char *text, *where, *cause;
} malformed[] = {
  {"", "f:1: ", ""},
  {"{\n\"devices\": [\n", "f:3: ", ""},
  {"[]", "f:1: ", "must be an object"},
  {"{}", "f:1: ", "the key 'devices' is missing"},
  {"{\"devices\": [],\n\"device\": 1}", "f:2: ", "device: unknown key"},
  {"{\"devices\":\n {}}", "f:1: ", "must be an array"},
  {FILE_OF("1"), "f:2: ", "must be an object"},
  {FILE_OF("{" ENTRY ",\n\"lanes\": 8, \"group\": 2, \"items\": 3}"),
   "f:2: ", "'scratch_bytes' is missing"},
  {FILE_OF("{\"name\": \"d\", \"precision\": \"f32\", " VALUES "}"),
   "f:2: ", "'platform' is missing"},
  {FILE_OF("{\"name\": \"d\", \"platform\": 3}"), "f:2: ", "platform: must be a string"},
  {FILE_OF("{\"name\": \"d\", \"platform\": \"p\",\n\"precision\": \"f16\", " VALUES "}"),
   "f:3: ", "precision: must be"},
  {FILE_OF("{" ENTRY ", " VALUES ",\n\"speed\": 1}"), "f:3: ", "speed: unknown key"},
  {FILE_OF("{" ENTRY ",\n\"lanes\": 3, \"group\": 2, \"items\": 3, \"scratch_bytes\": 65536}"),
   "f:3: ", "lanes: must be 1, 4, 8 or 16"},
  {FILE_OF("{" ENTRY ", \"lanes\": 8,\n\n\"group\": 12, \"items\": 3, \"scratch_bytes\": 65536}"),
   "f:4: ", "group: must be a power of two"},
  {FILE_OF("{" ENTRY ", \"lanes\": 8, \"group\": 2,\n\"items\": 0, \"scratch_bytes\": 65536}"),
   "f:3: ", "items: must be 1 to 1024"},
  {FILE_OF("{" ENTRY ", \"lanes\": 8, \"group\": 2,\n\"items\": 4294967297,"
           " \"scratch_bytes\": 65536}"),
   "f:3: ", "items: must be 1 to 1024"},
  {FILE_OF("{" ENTRY ", \"lanes\": 8, \"group\": 2, \"items\": 3,\n\"scratch_bytes\": 65535}"),
   "f:3: ", "scratch_bytes: must be 65536 to"},
  {FILE_OF("{" ENTRY ", \"lanes\": 8, \"group\": 2, \"items\": 3,\n\"scratch_bytes\": 1e6}"),
   "f:3: ", "must be a whole number"},
  {FILE_OF("{" ENTRY ", \"lanes\": 8, \"group\": -2, \"items\": 3, \"scratch_bytes\": 65536}"),
   "f:2: ", "group: must be a whole number"},
  {FILE_OF("{" ENTRY ", " VALUES "},\n{" ENTRY ", " VALUES "}"),
   "f:3: ", "names the same device as devices[0]"},
  {FILE_OF("{" ENTRY ", " VALUES ",\n\"lanes\": 4}"), "f:", "uplicate"},
  {FILE_OF("{" ENTRY ",\n\"module\": \"fields\", " REST "}"), "f:3: ", "unknown kernel module"},
  {FILE_OF("{" ENTRY ", \"module\": 1, " REST "}"), "f:2: ", "module: must be a string"},
  {FILE_OF("{" ENTRY ", \"module\": \"field\",\n" VALUES "}"),
   "f:3: ", "lanes: must not be given with a module"},
  {FILE_OF("{" OF_FIELD ", " REST "},\n{" OF_FIELD ", " REST "}"),
   "f:3: ", "names the same device as devices[0]"},
};

static void test_malformed(void)
{
  for (size_t i = 0; i < sizeof malformed / sizeof *malformed; ++i) {
    const char *text = malformed[i].text;
    tuning_file f;
    const abut_status status = tuning_file_parse("f", text, strlen(text), &f);
    const char *said = abut_last_error();
    check(status == ABUT_ERROR_FORMAT, "%s gives %s", text, abut_status_name(status));
    check(strncmp(said, malformed[i].where, strlen(malformed[i].where)) == 0 &&
            strstr(said, malformed[i].cause),
          "%s says: %s", text, said);
    check(!f.entries && !f.count, "%s leaves entries", text);
  }
  char text[512], name[200];
  tuning_file f;
  memset(name, 'x', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  snprintf(text, sizeof text, "{\"devices\": [{\"name\":\n\"%s\"}]}", name);
  check(tuning_file_parse("f", text, strlen(text), &f) == ABUT_ERROR_FORMAT &&
          strstr(abut_last_error(), "longer than 127 bytes"),
        "a long name: %s", abut_last_error());
}

static const tuning some = {8, 2, 3, 5 * MIB};

static bool equal(const tuning *a, const tuning *b)
{
  return a->lanes == b->lanes && a->group == b->group && a->items == b->items &&
         a->scratch_bytes == b->scratch_bytes;
}

static void test_finding(void)
{
  const char *text = FILE_OF("{" ENTRY ", " VALUES "},\n{\"name\": \"d\", \"platform\": \"p\","
                             "\"precision\": \"f64\", \"lanes\": 4, \"group\": 1, \"items\": 1,"
                             "\"scratch_bytes\": 1099511627776, \"driver\": \"1.2\"}");
  tuning_file f;
  if (!CHECK_OK(tuning_file_parse("f", text, strlen(text), &f))) {
    return;
  }
  abut_device_info d = device("d", "", "", "p", ABUT_DEVICE_GPU);
  const tuning_row *row = tuning_row_of(&d, NULL);
  const tuning narrow = tuning_find(&f, &d, ABUT_FLOAT32, NULL, &row), want = {8, 2, 3, 65536};
  check(equal(&narrow, &want) && !row, "the file's float32 entry is not taken");
  const tuning wide = tuning_find(&f, &d, ABUT_FLOAT64, NULL, NULL);
  check(wide.lanes == 4 && wide.scratch_bytes == MIB * MIB, "the float64 entry is not taken");
  const abut_device_info others[] = {device("d ", "", "", "p", ABUT_DEVICE_GPU),
                                     device("d", "", "", "P", ABUT_DEVICE_GPU),
                                     device("", "", "", "p", ABUT_DEVICE_GPU)};
  for (int i = 0; i < 3; ++i) {
    const tuning t = tuning_find(&f, &others[i], ABUT_FLOAT32, NULL, &row);
    const tuning table = tuning_of_row(tuning_row_of(&others[i], NULL), &others[i], ABUT_FLOAT32);
    check(row == tuning_row_of(&others[i], NULL) && equal(&t, &table),
          "the entry of another device is taken by \"%s\" of \"%s\"", others[i].name,
          others[i].platform);
  }
  d.type = ABUT_DEVICE_HOST;
  const tuning host = tuning_find(&f, &d, ABUT_FLOAT32, NULL, NULL);
  check(host.lanes == 1 && host.group == 1 && host.items == 1 && host.scratch_bytes == 65536,
        "the host path takes lanes from a file");
  tuning_file_free(&f);
}

/* A module's entry stands above the one for all, which gives the lanes; where there is none, it is
 * the one for all that holds. */
static void test_modules(void)
{
  const char *text = FILE_OF("{" ENTRY ", " VALUES "},\n{" ENTRY ", \"module\": \"witness\","
                             "\"group\": 4, \"items\": 5, \"scratch_bytes\": 1048576},\n"
                             "{\"name\": \"e\", \"platform\": \"p\", \"precision\": \"f32\","
                             "\"module\": \"witness\", " REST "}");
  tuning_file f;
  const tuning_row *row = NULL;
  if (!CHECK_OK(tuning_file_parse("f", text, strlen(text), &f))) {
    return;
  }
  abut_device_info d = device("d", "", "", "p", ABUT_DEVICE_GPU);
  const tuning own = tuning_find(&f, &d, ABUT_FLOAT32, "witness", &row), want = {8, 4, 5, MIB};
  check(equal(&own, &want) && !row, "a module's entry is not taken");
  const tuning all = {8, 2, 3, 65536}, got = tuning_find(&f, &d, ABUT_FLOAT32, "render", NULL);
  check(equal(&got, &all), "another module does not take the entry for all");
  const abut_device_info e = device("e", "", "", "p", ABUT_DEVICE_GPU);
  const tuning_row *table = tuning_row_of(&e, NULL);
  const tuning alone = tuning_find(&f, &e, ABUT_FLOAT32, "witness", NULL);
  check(alone.lanes == table->lanes[0] && alone.group == 2 && alone.items == 3,
        "a module's entry alone gives %u lanes, groups of %u", alone.lanes, alone.group);
  const tuning none = tuning_find(&f, &e, ABUT_FLOAT32, NULL, &row);
  check(row == table && none.group == table->group, "a module's entry holds for all");
  tuning_file_free(&f);
}

static void holds_entry(const char *path, const abut_device_info *d, abut_precision precision,
                        const char *module, const tuning *want, size_t count)
{
  tuning_file f;
  if (!CHECK_OK(tuning_file_read(path, &f))) {
    return;
  }
  const tuning_entry *e = tuning_file_find(&f, d, precision, module);
  check(e && equal(&e->values, want), "%s: the entry of \"%s\" is wrong", path, d->name);
  check(f.count == count, "%s: %zu entries, not %zu", path, f.count, count);
  tuning_file_free(&f);
}

static void test_merging(void)
{
  const char *path = "merged.json";
  const tuning other = {16, 64, 1, 7 * MIB}, third = {1, 1024, 1024, 65536};
  abut_device_info a = device("a \"quoted\"", "", "", "p", ABUT_DEVICE_CPU);
  const abut_device_info b = device("b\xff\t", "", "", "p", ABUT_DEVICE_CPU);
  snprintf(a.driver, sizeof a.driver, "3.1");
  unlink(path);
  CHECK_OK(tuning_file_put(path, &a, ABUT_FLOAT32, NULL, &some));
  CHECK_OK(tuning_file_put(path, &b, ABUT_FLOAT32, NULL, &other));
  CHECK_OK(tuning_file_put(path, &a, ABUT_FLOAT64, NULL, &third));
  holds_entry(path, &a, ABUT_FLOAT32, NULL, &some, 3);
  holds_entry(path, &b, ABUT_FLOAT32, NULL, &other, 3);
  holds_entry(path, &a, ABUT_FLOAT64, NULL, &third, 3);
  CHECK_OK(tuning_file_put(path, &a, ABUT_FLOAT32, NULL, &third));
  holds_entry(path, &a, ABUT_FLOAT32, NULL, &third, 3);
  holds_entry(path, &b, ABUT_FLOAT32, NULL, &other, 3);
  const tuning module = {1, 2, 7, 3 * MIB}; /* a module's lanes are not kept */
  CHECK_OK(tuning_file_put(path, &a, ABUT_FLOAT32, "field", &module));
  holds_entry(path, &a, ABUT_FLOAT32, NULL, &third, 4);
  holds_entry(path, &a, ABUT_FLOAT32, "field", &module, 4);
  CHECK_OK(tuning_file_put(path, &a, ABUT_FLOAT32, "field", &module));
  holds_entry(path, &a, ABUT_FLOAT32, "field", &module, 4);
}

static void put_text(const char *path, const char *text)
{
  FILE *f = fopen(path, "w");
  check(f && fputs(text, f) >= 0 && fclose(f) == 0, "%s cannot be made", path);
}

static bool text_is(const char *path, const char *text)
{
  char read[4096] = "";
  FILE *f = fopen(path, "r");
  const size_t got = f ? fread(read, 1, sizeof read - 1, f) : 0;
  if (f) {
    fclose(f);
  }
  return got == strlen(text) && memcmp(read, text, got) == 0;
}

/* What was there stays, to the byte, whatever goes wrong. */
static void test_failed_writing(void)
{
  const char *path = "kept.json", *good = "{\"devices\": []}", *bad = "{\"devices\": [\n1]}";
  const abut_device_info d = device("d", "", "", "p", ABUT_DEVICE_CPU);
  put_text(path, bad);
  check(tuning_file_put(path, &d, ABUT_FLOAT32, NULL, &some) == ABUT_ERROR_FORMAT &&
          strstr(abut_last_error(), "kept.json:2: "),
        "a malformed file: %s", abut_last_error());
  check(text_is(path, bad), "a malformed file was replaced");
  put_text(path, good);
  struct rlimit before, little;
  getrlimit(RLIMIT_FSIZE, &before);
  little = before;
  little.rlim_cur = 16;
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &little);
  const abut_status status = tuning_file_put(path, &d, ABUT_FLOAT32, NULL, &some);
  setrlimit(RLIMIT_FSIZE, &before);
  check(status == ABUT_ERROR_WRITE, "a full disk: %s", abut_status_name(status));
  check(text_is(path, good), "the old file is gone");
  check(tuning_file_put("no/such/folder.json", &d, ABUT_FLOAT32, NULL, &some) == ABUT_ERROR_WRITE,
        "a folder that is not there");
  tuning_file f;
  check(tuning_file_read(".", &f) == ABUT_ERROR_READ, "a folder in the file's place");
  CHECK_OK(tuning_file_read("kept.json/below", &f));
  CHECK_OK(tuning_file_read("not-there.json", &f));
  CHECK_OK(tuning_file_read(NULL, &f));
}

/* ---- the environment ---- */

static void set(const char *variable, const char *value)
{
  if (value) {
    setenv(variable, value, 1);
  } else {
    unsetenv(variable);
  }
}

static void test_paths(void)
{
  static const struct {
    const char *named, *config, *home, *path;
  } cases[] = {
    {"/x/t.json", "/c", "/h", "/x/t.json"},
    {"t.json", NULL, NULL, "t.json"},
    {"", "/c", "/h", NULL},
    {NULL, "/c", "/h", "/c/abut/tuning.json"},
    {NULL, "c", "/h", "/h/.config/abut/tuning.json"},
    {NULL, "", "/h", "/h/.config/abut/tuning.json"},
    {NULL, NULL, "/h", "/h/.config/abut/tuning.json"},
    {NULL, NULL, "", NULL},
    {NULL, NULL, NULL, NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char *path = NULL;
    set("ABUT_TUNING", cases[i].named);
    set("XDG_CONFIG_HOME", cases[i].config);
    set("HOME", cases[i].home);
    CHECK_OK(abut_tuning_path(&path));
    check(cases[i].path ? path && strcmp(path, cases[i].path) == 0 : !path,
          "case %zu: the path is %s", i, path ? path : "none");
    abut_free(path);
  }
}

static void test_wanted(void)
{
  set("ABUT_TUNING", "");
  const abut_device_info cpu = device("c", "", "", "p", ABUT_DEVICE_CPU);
  const tuning_row *row = tuning_row_of(&cpu, NULL);
  tuning t[MODULE_COUNT];
  CHECK_OK(tuning_with(&cpu, ABUT_FLOAT64, &(tuning){0, 0, 0, 0}, t));
  const tuning table = tuning_of_row(row, &cpu, ABUT_FLOAT64);
  for (int i = 0; i < MODULE_COUNT; ++i) {
    check(equal(&t[i], &table), "without wishes, the table does not hold");
  }
  CHECK_OK(tuning_with(&cpu, ABUT_FLOAT64, &some, t));
  for (int i = 0; i < MODULE_COUNT; ++i) {
    check(equal(&t[i], &some), "the caller's wishes do not stand above the table");
  }
  CHECK_OK(tuning_with(&cpu, ABUT_FLOAT64, &(tuning){1, 0, 0, 0}, t));
  check(t->lanes == 1 && t->group == 64 && t->items == 64, "one lane, groups of %u and %u",
        t->group, t->items);
  CHECK_OK(tuning_with(&cpu, ABUT_FLOAT64, &(tuning){1, 2, 0, 0}, t));
  check(t->lanes == 1 && t->group == 2, "one lane, a group of %u instead of 2", t->group);
}

/* ---- from outside ---- */

static bool opens(uint32_t index, abut_status want)
{
  abut_context_def def = abut_default_context_def();
  abut_context context;
  def.device = index;
  const abut_status status = abut_create_context(&def, &context);
  if (status == ABUT_SUCCESS) {
    abut_destroy_context(context);
  }
  return check(status == want, "a context gives %s, not %s", abut_status_name(status),
               abut_status_name(want));
}

static void test_api(uint32_t index)
{
  const abut_tuning wish = {4, 2, 3, 3 * MIB, ""};
  const char *path = "api.json";
  abut_tuning before, got;
  unlink(path);
  set("ABUT_TUNING", path);
  CHECK_OK(abut_device_tuning(index, ABUT_FLOAT32, NULL, &before));
  check(strncmp(before.source, "table: ", 7) == 0, "without a file: %s", before.source);
  CHECK_OK(abut_save_tuning(path, index, ABUT_FLOAT32, NULL, &wish));
  CHECK_OK(abut_device_tuning(index, ABUT_FLOAT32, NULL, &got));
  check(strcmp(got.source, "file api.json") == 0, "with a file: %s", got.source);
  size_t count = 0;
  abut_device_info infos[64];
  CHECK_OK(abut_list_devices(infos, 64, &count));
  const bool host = infos[index].type == ABUT_DEVICE_HOST;
  check(got.lanes == (host ? 1 : 4) && got.group == (host ? 1 : 2) && got.items == (host ? 1 : 3) &&
          got.scratch_bytes == 3 * MIB,
        "lanes %u, group %u, items %u", got.lanes, got.group, got.items);
  check(infos[index].lanes[0] == got.lanes, "the list says %u lanes", infos[index].lanes[0]);
  CHECK_OK(abut_device_tuning(index, ABUT_FLOAT64, NULL, &got));
  check(strcmp(got.source, before.source) == 0, "the other precision: %s", got.source);
  opens(index, ABUT_SUCCESS);
  const abut_tuning own = {16, 4, 5, 2 * MIB, ""};
  CHECK_OK(abut_save_tuning(path, index, ABUT_FLOAT32, "witness", &own));
  CHECK_OK(abut_device_tuning(index, ABUT_FLOAT32, "witness", &got));
  check(got.lanes == (host ? 1 : 4) && got.items == (host ? 1 : 5) && got.scratch_bytes == 2 * MIB,
        "witness: lanes %u, items %u", got.lanes, got.items);
  CHECK_OK(abut_device_tuning(index, ABUT_FLOAT32, "render", &got));
  check(got.items == (host ? 1 : 3) && got.scratch_bytes == 3 * MIB, "render: items %u", got.items);
  opens(index, ABUT_SUCCESS);

  put_text(path, "{\"devices\": [\n1]}");
  opens(index, ABUT_ERROR_FORMAT);
  check(strstr(abut_last_error(), "api.json:2: devices[0]: must be an object"),
        "a context says: %s", abut_last_error());
  check(abut_device_tuning(index, ABUT_FLOAT32, NULL, &got) == ABUT_ERROR_FORMAT,
        "abut_device_tuning");
  CHECK_OK(abut_list_devices(infos, 64, &count));
  check(infos[index].lanes[0] == before.lanes, "the list with a bad file: %u lanes",
        infos[index].lanes[0]);
  set("ABUT_TUNING", "");
  opens(index, ABUT_SUCCESS);
}

static void test_refusals(uint32_t index)
{
  abut_tuning t = {4, 2, 3, 3 * MIB, ""};
  const abut_tuning bad[] = {{2, 2, 3, MIB, ""},
                             {4, 0, 3, MIB, ""},
                             {4, 2, 1025, MIB, ""},
                             {4, 2, 3, 0, ""}};
  static const char *const names[] = {"lanes", "group", "items", "scratch_bytes"};
  for (int i = 0; i < 4; ++i) {
    check(abut_save_tuning("refused.json", index, ABUT_FLOAT32, NULL, &bad[i]) ==
              ABUT_ERROR_ARGUMENT &&
            strstr(abut_last_error(), names[i]),
          "%s: %s", names[i], abut_last_error());
  }
  check(access("refused.json", F_OK) != 0, "refused settings are written");
  check(abut_save_tuning(NULL, index, ABUT_FLOAT32, NULL, &t) == ABUT_ERROR_ARGUMENT, "no path");
  check(abut_save_tuning("r.json", index, ABUT_FLOAT32, NULL, NULL) == ABUT_ERROR_ARGUMENT, "none");
  check(abut_save_tuning("r.json", 1000, ABUT_FLOAT32, NULL, &t) == ABUT_ERROR_DEVICE, "no device");
  check(abut_device_tuning(1000, ABUT_FLOAT32, NULL, &t) == ABUT_ERROR_DEVICE, "no device");
  check(abut_device_tuning(index, (abut_precision)2, NULL, &t) == ABUT_ERROR_ARGUMENT,
        "a precision");
  check(abut_device_tuning(index, ABUT_FLOAT32, NULL, NULL) == ABUT_ERROR_ARGUMENT, "no place");
  check(abut_save_tuning("r.json", index, ABUT_FLOAT32, "no", &t) == ABUT_ERROR_ARGUMENT, "no");
  check(abut_device_tuning(index, ABUT_FLOAT32, "", &t) == ABUT_ERROR_ARGUMENT,
        "unknown kernel module");
  check(abut_tuning_path(NULL) == ABUT_ERROR_ARGUMENT, "no place for a path");
}

int main(void)
{
  char folder[] = "/tmp/abut-tuning-XXXXXX";
  if (!mkdtemp(folder) || chdir(folder) != 0) {
    return 99;
  }
  set("ABUT_TUNING", "");
  uint32_t index = 0;
  test_order();
  test_own_rows();
  test_scratch();
  test_malformed();
  test_finding();
  test_modules();
  test_merging();
  test_failed_writing();
  test_wanted();
  const char *wanted = getenv("ABUT_TEST_DEVICE");
  if (abut_find_device(wanted ? wanted : "host", &index) == ABUT_SUCCESS) {
    test_api(index);
    test_refusals(index);
  } else {
    printf("not run: %s\n", abut_last_error());
  }
  test_paths();
  static const char *const files[] = {"merged.json", "kept.json", "api.json"};
  for (int i = 0; i < 3; ++i) {
    unlink(files[i]);
  }
  check(rmdir(folder) == 0, "something is left in %s", folder);
  return check_finish();
}
