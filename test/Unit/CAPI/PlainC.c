/*===- PlainC.c - The header is C
 * ------------------------------------------===*/
#include "k2rt/k2rt.h"

/* Opens something that is not there, from C. */
int openNothing(void) {
  k2rt_model *model = NULL;
  int code = k2rt_open("/nonexistent.art", "sim", "model", &model);
  k2rt_close(model);
  return code;
}
