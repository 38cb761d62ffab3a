/* The policy by which blocks and parts of devices are handed out, for test_policy.py: a line of the
 * input each,
 *
 *   begin TOTAL MOST RANKS              nothing
 *   next RANK SPEED                     FIRST COUNT
 *   part UNITS CORES RANK RANKS         UNITS PART IDLE */
#include "mpi/own_device.h"
#include "mpi/shares.h"

#include <inttypes.h>
#include <stdio.h>

int main(void)
{
  char line[256];
  shares s = {0};
  while (fgets(line, sizeof line, stdin)) {
    uint64_t total, most, of[2];
    size_t rank, ranks, cores;
    uint32_t units, idle;
    double speed;
    if (sscanf(line, "begin %" SCNu64 " %" SCNu64 " %zu", &total, &most, &ranks) == 3) {
      shares_end(&s);
      if (!shares_begin(&s, total, most, ranks)) {
        return 1;
      }
    } else if (sscanf(line, "next %zu %lf", &rank, &speed) == 2 && rank < s.ranks) {
      shares_next(&s, rank, speed, of);
      printf("%" PRIu64 " %" PRIu64 "\n", of[0], of[1]);
    } else if (sscanf(line, "part %" SCNu32 " %zu %zu %zu", &units, &cores, &rank, &ranks) == 4) {
      const abut_device_choice c = own_part(0, units, cores, rank, ranks, &idle);
      printf("%u %u %u\n", c.units, c.part, idle);
    } else {
      return 2;
    }
  }
  shares_end(&s);
  return 0;
}
