#include "query/ccd/queries.h"
#include "core/json_text.h"
#include "core/outputs.h"

#include <stdio.h>
#include <stdlib.h>

/* In the order of abut_ccd_method. */
static const char *const method_words[] = {"certified", "additive"};
#define METHODS (sizeof method_words / sizeof *method_words)

/* What is told of all queries. */
typedef struct tally {
  size_t true_hits, false_negatives, false_positives, undecided, rejected;
  uint64_t iterations, most; /* of both stages: of all queries, and of one */
} tally;

static exit_code check_usage(queries *q, abut_precision *precision)
{
  const options *o = q->o;
  size_t method = q->method, iterations = 0;
  CLI_TRY(need_operands(o, 1, "a file of queries"));
  CLI_TRY(query_file_check(o));
  CLI_TRY(option_precision(o, precision));
  CLI_TRY(option_word(o, OPTION_METHOD, method_words, METHODS, &method));
  CLI_TRY(option_whole(o, OPTION_ITERATIONS, 1, 1000000, &iterations));
  q->method = (abut_ccd_method)method;
  q->iterations_most = (uint32_t)iterations;
  CLI_TRY(check_inputs(o));
  if (o->value[OPTION_OUTPUT]) {
    CLI_TRY(check_not_input(o, o->value[OPTION_OUTPUT]));
    CLI_TRY(check_own_output(o));
  }
  return EXIT_GOOD;
}

/* ---- what is said ---- */

static tally count_rows(const queries *q)
{
  tally t = {0};
  for (size_t i = 0; i < q->file.count; ++i) {
    const int end = q->status[i] & ABUT_CCD_END;
    const uint64_t iterations = (uint64_t)q->iterations[2 * i] + q->iterations[2 * i + 1];
    const bool hit = q->file.truth[i] == QUERY_IS_HIT, is_free = q->file.truth[i] == QUERY_IS_FREE;
    t.true_hits += hit;
    t.false_negatives += hit && end == ABUT_CCD_FREE;
    t.false_positives += is_free && end != ABUT_CCD_FREE;
    t.undecided += end == ABUT_CCD_LIMIT;
    t.rejected += end == ABUT_CCD_BAD_INPUT;
    t.iterations += iterations;
    t.most = iterations > t.most ? iterations : t.most;
  }
  return t;
}

static double mean_iterations(const queries *q, const tally *t)
{
  return q->file.count ? (double)t->iterations / (double)q->file.count : 0.0;
}

static void print_text(const queries *q, const tally *t)
{
  const char *const of_truth[] = {"true_hits", "false_negatives", "false_positives"};
  const size_t counts[] = {t->true_hits, t->false_negatives, t->false_positives};
  printf("%-20s %zu\n", "queries", q->file.count);
  for (int i = 0; i < 3; ++i) {
    if (q->file.tells) {
      printf("%-20s %zu\n", of_truth[i], counts[i]);
    } else {
      printf("%-20s unknown\n", of_truth[i]);
    }
  }
  printf("%-20s %zu\n%-20s %zu\n%-20s mean %.4g, most %llu\n%-20s %.4g\n%-20s %.4g\n", "undecided",
         t->undecided, "rejected", t->rejected, "iterations", mean_iterations(q, t),
         (unsigned long long)t->most, "microseconds_median", 1e6 * q->median, "microseconds_mean",
         1e6 * q->mean);
  printf("by %s on %s, %s\n", method_words[q->method], scene_workers(&q->scene).text,
         precision_name(q->scene.precision));
}

/* A count, or null where the file does not tell what is true. */
static json_t *known(const queries *q, size_t count)
{
  return q->file.tells ? json_integer((json_int_t)count) : json_null();
}

static exit_code print_json(const queries *q, const tally *t)
{
  json_t *entry =
    json_pack("{s:o, s:s, s:s, s:o, s:I, s:o, s:o, s:o, s:I, s:I, s:f, s:I, s:f, s:f}", "file",
              json_text(q->file.path), "method", method_words[q->method], "precision",
              precision_name(q->scene.precision), "device",
              json_text(scene_workers(&q->scene).text), "queries", (json_int_t)q->file.count,
              "true_hits", known(q, t->true_hits), "false_negatives", known(q, t->false_negatives),
              "false_positives", known(q, t->false_positives), "undecided",
              (json_int_t)t->undecided, "rejected", (json_int_t)t->rejected, "iterations_mean",
              mean_iterations(q, t), "iterations_most", (json_int_t)t->most, "microseconds_median",
              1e6 * q->median, "microseconds_mean", 1e6 * q->mean);
  const bool good = entry &&
                    json_dumpf(entry, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) == 0;
  json_decref(entry);
  if (!good) {
    return report(EXIT_RUN, "no JSON could be made");
  }
  putchar('\n');
  return EXIT_GOOD;
}

static exit_code tell(const queries *q)
{
  const tally t = count_rows(q);
  if (t.false_negatives) {
    warn("%s: %zu queries are told free that the file calls hits: one of the two is wrong",
         q->file.path, t.false_negatives);
  }
  if (!keeps_stdout(q->o)) {
    return EXIT_GOOD;
  }
  if (q->o->value[OPTION_JSON]) {
    return print_json(q, &t);
  }
  print_text(q, &t);
  return EXIT_GOOD;
}

/* ---- the file ---- */

static exit_code write_answers(const queries *q)
{
  outputs l = {0};
  outputs_add(&l, "status", ABUT_ARRAY_UINT8, q->status, 1, q->file.count, 0, 0);
  outputs_add(&l, "toi", real_type(&q->scene), q->toi, 1, q->file.count, 0, 0);
  outputs_add(&l, "iterations", ABUT_ARRAY_UINT32, q->iterations, 2, q->file.count, 2, 0);
  return outputs_write(&l, &q->scene, q->o);
}

static exit_code run(queries *q)
{
  abut_precision precision = ABUT_FLOAT32;
  CLI_TRY(check_usage(q, &precision));
  CLI_TRY(query_file_read(&q->file, q->o, precision));
  CLI_TRY(scene_open(&q->scene, q->o, precision));
  CLI_TRY(queries_take(q));
  CLI_TRY(queries_compute(q));
  CLI_TRY(queries_time(q));
  if (q->o->value[OPTION_OUTPUT]) {
    CLI_TRY(write_answers(q));
  }
  return tell(q);
}

exit_code cmd_ccd_queries(const options *o)
{
  queries q = {.o = o};
  const exit_code code = run(&q);
  queries_free(&q);
  query_file_free(&q.file);
  scene_close(&q.scene);
  return code;
}
