/* SoftSort's weighted means of edge ends by CLBlast, against the kernel that makes its weights on
 * the fly and stores none: clblast CASE [DEVICE [BATCH [ROUNDS]]]
 *
 * CASE as in compare_jax.py. Scores are those of body 1's edges in the case's poses. A pose's means
 * are a (kept x edges) by (edges x 6) product, and as all poses share the edges, those of a batch
 * are one (batch kept x edges) by (edges x 6) product, too. CLBlast wants the weights in memory: a
 * kernel in the suite's own words makes them. All take turns; prints medians in JSON. */
#include "support.h"

#include <abut/abut.h>
#include <clblast_c.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_source.h"
typedef float real;
#include "geometry/coefficients.h"

#define COLUMNS 6
#define MOST_ROUNDS 101
#define PAD_SCORE (-1e30f)

static const char weights_source[] =
  "\n#line 1 \"weights\"\n"
  "__kernel void softsort_weights(GLOBAL const real *scores, GLOBAL const real *top, int kept,\n"
  "                               int padded, GLOBAL const coefficients *c, GLOBAL real *weights)\n"
  "{\n"
  "  const int k = (int)get_global_id(0), pose = (int)get_global_id(1);\n"
  "  if (k >= kept) {\n"
  "    return;\n"
  "  }\n"
  "  const lane ranked = lane_lit(top[pose * (kept + 1) + k]);\n"
  "  GLOBAL const real *s = scores + (size_t)pose * (size_t)padded;\n"
  "  GLOBAL real *w = weights + ((size_t)pose * (size_t)kept + (size_t)k) * (size_t)padded;\n"
  "  lane sum = lane_lit(R(0.0));\n"
  "  for (int i = 0; i < padded; i += LANES) {\n"
  "    const lane x = lane_abs(ranked - lane_load(s + i)) * lane_lit(-c->sort_log2e);\n"
  "    lane e = lane_lit(R(0.0));\n"
  "    if (lane_any(x > lane_lit(WEIGHT_CUTOFF))) {\n"
  "      e = lane_exp2(x);\n"
  "      sum += e;\n"
  "    }\n"
  "    lane_store(e, w + i);\n"
  "  }\n"
  "  const lane inv = lane_lit(R(1.0) / lane_sum(sum));\n"
  "  for (int i = 0; i < padded; i += LANES) {\n"
  "    lane_store(lane_load(w + i) * inv, w + i);\n"
  "  }\n"
  "}\n";

enum { KERNEL_ON_THE_FLY, WEIGHTS, BATCHED, SINGLE, WAYS };
static const char *const way_names[WAYS] = {"kernel", "weights", "gemm_strided_batched", "gemm"};

typedef struct bench {
  abut_device_info info;
  abut_smoothing smoothing;
  size_t batch, edges, padded, kept, out_padded, lanes;
  float *scores, *top, *ends;
  cl_context context;
  cl_command_queue queue;
  cl_kernel softsort, weigh;
  cl_mem scores_on, top_on, ends_on, coefficients_on, out_on, sums_on, weights_on, product_on;
} bench;

/* ---- the case: scores, the largest of them, and edge ends ---- */

static int descending(const void *a, const void *b)
{
  const float x = *(const float *)a, y = *(const float *)b;
  return (x < y) - (x > y);
}

/* The distances of body 1's vertices, (poses, vertices): its vertex contacts, all kept. */
static float *vertex_distances(abut_context context, const char *folder, bench *b,
                               abut_body bodies[2], size_t *poses)
{
  char path[4096];
  abut_poses file;
  abut_pair pair;
  abut_layout layout;
  for (int i = 0; i < 2; ++i) {
    snprintf(path, sizeof path, "%s/%c.body.json", folder, 'a' + i);
    good(path, abut_load_body(context, path, &bodies[i]));
  }
  snprintf(path, sizeof path, "%s/smoothing.json", folder);
  good(path, abut_load_smoothing(path, &b->smoothing));
  snprintf(path, sizeof path, "%s/poses.npz", folder);
  good(path, abut_load_poses(path, &file));
  abut_smoothing all = b->smoothing;
  all.edge_edge = all.two_sided = false;
  all.vertices[0] = 0;
  good("pair", abut_create_pair(bodies[0], bodies[1], &all, &pair));
  good("layout", abut_get_layout(pair, &layout));
  float *d = room(file.count * layout.contacts, sizeof *d);
  float *pose[2] = {room(6 * file.count, sizeof *d), room(6 * file.count, sizeof *d)};
  for (size_t i = 0; i < 6 * file.count; ++i) {
    pose[0][i] = (float)file.pose1[i];
    pose[1][i] = (float)file.pose2[i];
  }
  abut_batch batch = abut_default_batch();
  batch.count = *poses = file.count;
  batch.pose1 = pose[0];
  batch.pose2 = pose[1];
  batch.d = d;
  good("contacts", abut_contacts(pair, &batch));
  free(pose[0]);
  free(pose[1]);
  abut_free_poses(&file);
  return d;
}

static void score(bench *b, const float *d, const uint32_t *edges, size_t vertices, size_t poses)
{
  float *sorted = room(b->padded, sizeof *sorted);
  for (size_t n = 0; n < b->batch; ++n) {
    const float *from = d + n % poses * vertices;
    float *row = b->scores + n * b->padded;
    for (size_t i = 0; i < b->padded; ++i) {
      row[i] = i < b->edges ? -0.5f * (from[edges[2 * i]] + from[edges[2 * i + 1]]) : PAD_SCORE;
    }
    memcpy(sorted, row, b->padded * sizeof *row);
    qsort(sorted, b->padded, sizeof *sorted, descending);
    memcpy(b->top + n * (b->kept + 1), sorted, (b->kept + 1) * sizeof *sorted);
  }
  free(sorted);
}

static void load_case(bench *b, const char *folder, const char *device)
{
  abut_context_def def = abut_default_context_def();
  abut_context context;
  abut_body bodies[2];
  abut_body_info info;
  size_t poses;
  good(device, abut_find_device(device, &def.device));
  good("context", abut_create_context(&def, &context));
  good("device", abut_context_device(context, &b->info));
  float *d = vertex_distances(context, folder, b, bodies, &poses);
  good("body", abut_get_body_info(bodies[0], &info));
  double *vertices = room(3 * info.vertices, sizeof *vertices);
  uint32_t *edges = room(2 * info.edges, sizeof *edges);
  good("mesh", abut_get_body_mesh(bodies[0], vertices, edges));
  b->lanes = b->info.lanes[ABUT_FLOAT32];
  b->edges = info.edges;
  b->kept = b->smoothing.edges[0];
  b->padded = (b->edges + b->lanes - 1) / b->lanes * b->lanes;
  b->out_padded = (b->kept + b->lanes - 1) / b->lanes * b->lanes;
  b->scores = room(b->batch * b->padded, sizeof *b->scores);
  b->top = room(b->batch * (b->kept + 1), sizeof *b->top);
  b->ends = room(COLUMNS * b->padded, sizeof *b->ends);
  score(b, d, edges, info.vertices, poses);
  for (size_t i = 0; i < b->edges; ++i) {
    for (size_t j = 0; j < COLUMNS; ++j) {
      b->ends[j * b->padded + i] = (float)vertices[3 * edges[2 * i + j / 3] + j % 3];
    }
  }
  free(d);
  free(vertices);
  free(edges);
  good("destroy", abut_destroy_context(context));
}

/* ---- OpenCL ---- */

static cl_device_id find_device(const bench *b, cl_platform_id *platform)
{
  cl_platform_id platforms[16];
  cl_device_id devices[16];
  cl_uint count = 0, found = 0;
  char text[2][512] = {{0}};
  good("platforms", clGetPlatformIDs(16, platforms, &count));
  for (cl_uint p = 0; p < count && p < 16; ++p) {
    clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof text[0], text[0], NULL);
    if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &found)) {
      continue;
    }
    for (cl_uint i = 0; i < found && i < 16; ++i) {
      clGetDeviceInfo(devices[i], CL_DEVICE_NAME, sizeof text[1], text[1], NULL);
      if (strstr(text[0], b->info.platform) && strstr(text[1], b->info.name)) {
        *platform = platforms[p];
        return devices[i];
      }
    }
  }
  stop("no such OpenCL device", 0);
  return NULL;
}

static cl_mem buffer(const bench *b, size_t count, const void *from)
{
  cl_int code;
  const cl_mem_flags copy = from ? CL_MEM_COPY_HOST_PTR : 0;
  cl_mem memory = clCreateBuffer(b->context, CL_MEM_READ_WRITE | copy, count * sizeof(float),
                                 (void *)(size_t)from, &code);
  good("buffer", code);
  return memory;
}

static void open_device(bench *b)
{
  cl_int code;
  cl_platform_id platform;
  cl_device_id device = find_device(b, &platform);
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform,
                                              0};
  b->context = clCreateContext(properties, 1, &device, NULL, NULL, &code);
  good("context", code);
  b->queue = clCreateCommandQueue(b->context, device, 0, &code);
  good("queue", code);
  const char *const *suite = kernel_sources[MODULE_MANIFOLD];
  const char *sources[4] = {suite[0], suite[1], suite[2], weights_source};
  cl_program program = clCreateProgramWithSource(b->context, 4, sources, NULL, &code);
  good("program", code);
  char options[256];
  snprintf(options, sizeof options,
           "-cl-std=CL1.2 -cl-denorms-are-zero -DREAL_DOUBLE=0 -DWIDE=%d -DLANES=%zu -DWG=64 "
           "-DTANGENTS=0 -DWITH_FORWARD=1 -DWITH_ADJOINT=0",
           b->info.has_float64, b->lanes);
  good("build", clBuildProgram(program, 1, &device, options, NULL, NULL));
  b->softsort = clCreateKernel(program, "softsort_edges", &code);
  good("softsort_edges", code);
  b->weigh = clCreateKernel(program, "softsort_weights", &code);
  good("softsort_weights", code);
  const coefficients c = {.sort_log2e = (float)(1.4426950408889634 / b->smoothing.sort)};
  const size_t rows = b->batch * b->kept;
  b->scores_on = buffer(b, b->batch * b->padded, b->scores);
  b->top_on = buffer(b, b->batch * (b->kept + 1), b->top);
  b->ends_on = buffer(b, COLUMNS * b->padded, b->ends);
  b->coefficients_on = buffer(b, sizeof c / sizeof(float), &c);
  b->out_on = buffer(b, b->batch * COLUMNS * b->out_padded, NULL);
  b->sums_on = buffer(b, b->batch * b->out_padded, NULL);
  b->weights_on = buffer(b, rows * b->padded, NULL);
  b->product_on = buffer(b, rows * COLUMNS, NULL);
}

static void argument(cl_kernel kernel, cl_uint i, size_t size, const void *value)
{
  good("argument", clSetKernelArg(kernel, i, size, value));
}

static void set_arguments(bench *b)
{
  const cl_int kept = (cl_int)b->kept, wide = (cl_int)b->padded, out = (cl_int)b->out_padded;
  const struct {
    cl_kernel kernel;
    size_t size;
    const void *value;
  } all[] = {
    {b->softsort, sizeof(cl_mem), &b->scores_on},
    {b->softsort, sizeof(cl_mem), &b->top_on},
    {b->softsort, sizeof kept, &kept},
    {b->softsort, sizeof(cl_mem), &b->ends_on},
    {b->softsort, sizeof wide, &wide},
    {b->softsort, sizeof(cl_mem), &b->coefficients_on},
    {b->softsort, sizeof(cl_mem), &b->out_on},
    {b->softsort, sizeof out, &out},
    {b->softsort, sizeof(cl_mem), &b->sums_on},
    {b->weigh, sizeof(cl_mem), &b->scores_on},
    {b->weigh, sizeof(cl_mem), &b->top_on},
    {b->weigh, sizeof kept, &kept},
    {b->weigh, sizeof wide, &wide},
    {b->weigh, sizeof(cl_mem), &b->coefficients_on},
    {b->weigh, sizeof(cl_mem), &b->weights_on},
  };
  for (cl_uint i = 0; i < sizeof all / sizeof all[0]; ++i) {
    argument(all[i].kernel, i < 9 ? i : i - 9, all[i].size, all[i].value);
  }
}

/* ---- what is timed ---- */

static void launch(bench *b, cl_kernel kernel)
{
  const size_t items = b->lanes > 1 ? 1 : 64; /* as src/engine/device/tuning.c has it */
  const size_t local[2] = {items, 1}, global[2] = {(b->kept + items - 1) / items * items, b->batch};
  good("launch", clEnqueueNDRangeKernel(b->queue, kernel, 2, NULL, global, local, 0, NULL, NULL));
}

static void work(bench *b, int way)
{
  const size_t wide = b->padded, kept = b->kept;
  if (way == KERNEL_ON_THE_FLY) {
    launch(b, b->softsort);
  } else if (way == WEIGHTS) {
    launch(b, b->weigh);
  } else if (way == BATCHED) {
    good("CLBlastSgemmStridedBatched",
         CLBlastSgemmStridedBatched(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeYes,
                                    kept, COLUMNS, b->edges, 1.0f, b->weights_on, 0, wide,
                                    kept * wide, b->ends_on, 0, wide, 0, 0.0f, b->product_on, 0,
                                    COLUMNS, kept * COLUMNS, b->batch, &b->queue, NULL));
  } else {
    good("CLBlastSgemm",
         CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeYes,
                      b->batch * kept, COLUMNS, b->edges, 1.0f, b->weights_on, 0, wide, b->ends_on,
                      0, wide, 0.0f, b->product_on, 0, COLUMNS, &b->queue, NULL));
  }
  good("finish", clFinish(b->queue));
}

/* The largest difference between the kernel's means and the product. */
static double difference(bench *b)
{
  const size_t rows = b->batch * b->kept, stride = COLUMNS * b->out_padded;
  float *out = room(b->batch * stride, sizeof *out),
        *product = room(rows * COLUMNS, sizeof *product);
  good("read", clEnqueueReadBuffer(b->queue, b->out_on, CL_TRUE, 0, b->batch * stride * sizeof *out,
                                   out, 0, NULL, NULL));
  good("read", clEnqueueReadBuffer(b->queue, b->product_on, CL_TRUE, 0,
                                   rows * COLUMNS * sizeof *out, product, 0, NULL, NULL));
  double worst = 0.0;
  for (size_t i = 0; i < rows * COLUMNS; ++i) {
    const size_t row = i / COLUMNS, j = i % COLUMNS;
    const float want = out[row / b->kept * stride + j * b->out_padded + row % b->kept];
    worst = fmax(worst, fabs((double)product[i] - want));
  }
  free(out);
  free(product);
  return worst;
}

static int ascending(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
  qsort(values, count, sizeof *values, ascending);
  return values[count / 2];
}

/* By round: each way's time, that over the kernel's, and that of weights and product together. */
static double seconds[WAYS][MOST_ROUNDS], bare[WAYS][MOST_ROUNDS], ratio[2][MOST_ROUNDS];

static void time_ways(bench *b, size_t rounds, double worst[2])
{
  for (size_t r = 0; r <= rounds; ++r) { /* the first compiles CLBlast's kernels */
    for (int way = 0; way < WAYS; ++way) {
      const double start = now();
      work(b, way);
      seconds[way][r ? r - 1 : 0] = now() - start;
      if (!r && way >= BATCHED) {
        worst[way - BATCHED] = difference(b);
      }
    }
    for (int way = 0; way < WAYS && r; ++way) {
      bare[way][r - 1] = seconds[way][r - 1] / seconds[KERNEL_ON_THE_FLY][r - 1];
    }
    for (int i = 0; i < 2 && r; ++i) {
      ratio[i][r - 1] = bare[WEIGHTS][r - 1] + bare[BATCHED + i][r - 1];
    }
  }
}

static void print_times(size_t rounds, const double worst[2])
{
  for (int way = 0; way < WAYS; ++way) {
    printf("  \"%s_ms\": %.3f,\n", way_names[way], 1e3 * median(seconds[way], rounds));
  }
  printf("  \"weights_over_kernel\": %.2f,\n", median(bare[WEIGHTS], rounds));
  for (int i = 0; i < 2; ++i) {
    const char *name = way_names[BATCHED + i];
    printf("  \"%s_largest_difference\": %.2e,\n  \"%s_over_kernel\": %.2f,\n"
           "  \"weights_and_%s_over_kernel\": %.2f%s\n",
           name, worst[i], name, median(bare[BATCHED + i], rounds), name, median(ratio[i], rounds),
           i ? "" : ",");
  }
}

/* The share of weights that are not 0. */
static double weighty(const bench *b)
{
  size_t count = 0;
  for (size_t i = 0; i < b->batch * b->kept * b->padded; ++i) {
    const size_t row = i / b->padded, pose = row / b->kept;
    const float ranked = b->top[pose * (b->kept + 1) + row % b->kept];
    const float gap = ranked - b->scores[pose * b->padded + i % b->padded];
    count += fabsf(gap) * 1.442695f / (float)b->smoothing.sort < 130.0f;
  }
  return (double)count / (double)(b->batch * b->kept * b->edges);
}

int main(int argc, char **argv)
{
  static bench b;
  if (argc < 2) {
    fprintf(stderr, "clblast CASE [DEVICE [BATCH [ROUNDS]]]\n");
    return 2;
  }
  b.batch = argc > 3 ? strtoul(argv[3], NULL, 10) : 1024;
  const size_t asked = argc > 4 ? strtoul(argv[4], NULL, 10) : 15;
  const size_t rounds = asked < 1 || asked > MOST_ROUNDS ? 15 : asked;
  double worst[2];
  load_case(&b, argv[1], argc > 2 ? argv[2] : "pocl");
  open_device(&b);
  set_arguments(&b);
  printf("{\n  \"device\": \"%s\",\n  \"driver\": \"%s %s\",\n  \"batch\": %zu,\n  \"kept\": %zu,\n"
         "  \"edges\": %zu,\n  \"rounds\": %zu,\n  \"weights_above_cutoff\": %.3f,\n",
         b.info.name, b.info.platform, b.info.driver, b.batch, b.kept, b.edges, rounds,
         weighty(&b));
  printf("  \"product_gflop\": %.3f,\n  \"weights_mb\": %.1f,\n",
         2e-9 * COLUMNS * (double)(b.batch * b.kept * b.edges),
         4e-6 * (double)(b.batch * b.kept * b.padded));
  time_ways(&b, rounds, worst);
  print_times(rounds, worst);
  printf("}\n");
  return 0;
}
