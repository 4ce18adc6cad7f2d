/* lauka/region.h in the strictest C that it is for: that this compiles without a warning is the
 * test. */
#include <lauka/region.h>

int lauka_region_header_in_c(void);

int lauka_region_header_in_c(void) {
  lauka_region_begin();
  lauka_region_end();
  return 0;
}
