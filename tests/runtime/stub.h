// What the stand-ins for a driver remember of launches, as stand_in.py reads it.
#include <string.h>

#define PARAMETERS 16
#define LAUNCHES 65536

typedef struct {
  unsigned long long grid[3], stream, function, parameters[PARAMETERS];
} Launch;

Launch launches[LAUNCHES];
int launched = 0;       // how many there were
int parameters = 0;     // how many each kernel has: a driver would know, this one is told
static int loaded = 0;  // each loaded kernel has a number

static void remember(unsigned x, unsigned y, unsigned z, void *stream, void *function, void **given) {
  Launch *launch = &launches[__atomic_fetch_add(&launched, 1, __ATOMIC_SEQ_CST) % LAUNCHES];
  *launch = (Launch){{x, y, z}, (unsigned long long)stream, (unsigned long long)function};
  for (int i = 0; i < parameters && i < PARAMETERS; ++i) memcpy(&launch->parameters[i], given[i], 8);
}
