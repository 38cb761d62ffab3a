/* Times queries of collision in time by the IPC Toolkit and by Tight-Inclusion, one after the other
 * on one thread.
 *
 *   ccd_ipc PROBLEM ANSWERS METHOD [PASSES]
 *
 * PROBLEM and ANSWERS are files of ccd_problem.h. METHOD: additive, ipc::AdditiveCCD; tight,
 * ipc::TightInclusionCCD, both with their defaults (0.9 and 0.8 of the first distance are used up,
 * tolerance 1e-6); plain, ticcd's own functions without a distance to keep, tolerance 1e-6, at most
 * a million steps. Warnings are left out.
 *
 * Prints JSON in microseconds a query: "mean", the median pass over the number of queries, with 0
 * PASSES the one with clocks; "processor", the same of the processor's time; "median" and "most" of
 * the queries, by passes with a clock around each query, of which each query's best counts; these
 * include some hundredths for the clock. */
#include <ipc/ccd/additive_ccd.hpp>
#include <ipc/ccd/tight_inclusion_ccd.hpp>
#include <tight_inclusion/ccd.hpp>

#include <algorithm>
#include <memory>
#include <vector>

#include "ccd_problem.h"

namespace
{

using Eigen::Vector3d;

struct query {
  uint32_t kind;
  Vector3d x[8]; /* four at time 0, four at time 1 */
};

struct answer {
  bool hit;
  double toi;
};

constexpr double TOLERANCE = 1e-6;
constexpr long STEPS = 1000000;

std::vector<query> queries_of(const problem &p)
{
  std::vector<query> all(p.query_count);
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].kind = p.kind[i];
    for (size_t k = 0; k < 4; ++k) {
      all[i].x[k] = Eigen::Map<const Vector3d>(p.x0 + QUERY_REALS * i + 3 * k);
      all[i].x[4 + k] = Eigen::Map<const Vector3d>(p.x1 + QUERY_REALS * i + 3 * k);
    }
  }
  return all;
}

struct narrow {
  const ipc::NarrowPhaseCCD &ccd;

  answer operator()(const query &q) const
  {
    const Vector3d *x = q.x;
    answer a{false, 1.0};
    a.hit = q.kind == POINT_TRIANGLE
              ? ccd.point_triangle_ccd(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], a.toi)
              : ccd.edge_edge_ccd(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], a.toi);
    return a;
  }
};

struct plain {
  answer operator()(const query &q) const
  {
    const Vector3d *x = q.x;
    const ticcd::Array3 automatic = ticcd::Array3::Constant(-1);
    double reached = 0.0;
    answer a{false, 1.0};
    const auto ask = q.kind == POINT_TRIANGLE ? first_of(ticcd::vertexFaceCCD)
                                              : first_of(ticcd::edgeEdgeCCD);
    a.hit = ask(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], automatic, 0.0, a.toi, TOLERANCE,
                1.0, STEPS, reached, ticcd::DEFAULT_NO_ZERO_TOI,
                ticcd::CCDRootFindingMethod::BREADTH_FIRST_SEARCH);
    return a;
  }

private:
  template <typename F> static F *first_of(F &f)
  {
    return &f;
  }
};

struct timing {
  std::vector<double> wall, processor, best;
};

template <typename Way> void time_pass(const std::vector<query> &queries, const Way &ask, timing &t)
{
  size_t hits = 0;
  const double start = seconds_now(), spent = processor_seconds();
  for (const query &q : queries) {
    hits += ask(q).hit;
  }
  const double each = 1e6 / static_cast<double>(std::max<size_t>(queries.size(), 1));
  t.processor.push_back(each * (processor_seconds() - spent));
  t.wall.push_back(each * (seconds_now() - start));
  if (hits > queries.size()) {
    std::abort(); /* what is not looked at might be left out */
  }
}

template <typename Way>
void time_queries(const std::vector<query> &queries, const Way &ask, timing &t, double *answers)
{
  t.best.resize(queries.size(), 1e300);
  for (size_t i = 0; i < queries.size(); ++i) {
    const double start = seconds_now();
    const answer a = ask(queries[i]);
    t.best[i] = std::min(t.best[i], 1e6 * (seconds_now() - start));
    double *row = answers + ANSWER_WIDTH * i;
    row[ANSWER_TOI] = a.hit ? a.toi : 1.0;
    row[ANSWER_STATUS] = a.hit;
    row[ANSWER_TIME] = t.best[i];
  }
}

template <typename Way>
std::vector<double> time_way(const std::vector<query> &queries, const Way &ask, int passes)
{
  timing t;
  std::vector<double> answers(ANSWER_WIDTH * queries.size(), 0.0);
  const double start = seconds_now(), spent = processor_seconds();
  time_queries(queries, ask, t, answers.data()); /* warms up */
  if (!passes) {
    const double each = 1e6 / static_cast<double>(std::max<size_t>(queries.size(), 1));
    t.processor.push_back(each * (processor_seconds() - spent));
    t.wall.push_back(each * (seconds_now() - start));
  }
  for (int pass = 0; pass < passes; ++pass) {
    time_pass(queries, ask, t);
    time_queries(queries, ask, t, answers.data());
  }
  const double most = queries.empty() ? 0.0 : *std::max_element(t.best.begin(), t.best.end());
  const double median = median_of(t.best.data(), t.best.size());
  std::printf("{\"queries\": %zu, \"passes\": %d, \"mean\": %.5g, \"processor\": %.5g, "
              "\"median\": %.5g, \"most\": %.5g}\n",
              queries.size(), passes, median_of(t.wall.data(), t.wall.size()),
              median_of(t.processor.data(), t.processor.size()), median, most);
  return answers;
}

std::vector<double> time_method(const std::vector<query> &queries, const char *method, int passes)
{
  if (!std::strcmp(method, "additive")) {
    const ipc::AdditiveCCD ccd;
    return time_way(queries, narrow{ccd}, passes);
  }
  if (!std::strcmp(method, "tight")) {
    const ipc::TightInclusionCCD ccd;
    return time_way(queries, narrow{ccd}, passes);
  }
  return time_way(queries, plain(), passes);
}

} // namespace

int main(int argc, char **argv)
{
  problem p;
  if (argc < 4 || !read_problem(argv[1], &p)) {
    std::fprintf(stderr, "ccd_ipc: no problem that can be read\n");
    return 1;
  }
  const auto answers = time_method(queries_of(p), argv[3], argc > 4 ? std::atoi(argv[4]) : 5);
  if (!write_answers(argv[2], answers.data(), p.query_count)) {
    std::fprintf(stderr, "ccd_ipc: %s cannot be written\n", argv[2]);
    return 1;
  }
  return 0;
}
