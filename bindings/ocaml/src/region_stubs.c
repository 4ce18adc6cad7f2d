/* lauka/region.h for OCaml. Neither function allocates or raises. */
#include "region.h"

#include <caml/mlvalues.h>

value lauka_region_begin_stub(value unit) {
  (void)unit;
  lauka_region_begin();
  return Val_unit;
}

value lauka_region_end_stub(value unit) {
  (void)unit;
  lauka_region_end();
  return Val_unit;
}
