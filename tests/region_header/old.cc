// lauka/region.h in the oldest C++ that compilers still know: that this compiles without a warning
// is the test.
#include <lauka/region.h>

int lauka_region_header_in_cc();

int lauka_region_header_in_cc() {
  lauka_region_begin();
  lauka_region_end();
  return 0;
}
