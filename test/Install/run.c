/* The C API alone: opens the artifact that is named, says what the model is. */
#include "k2rt/k2rt.h"

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv) {
  k2rt_model *model = NULL;
  k2rt_info info;
  int code = k2rt_open(argc > 1 ? argv[1] : "", "sim", "model", &model);
  if (!code)
    code = k2rt_get_info(model, &info);
  if (code)
    fprintf(stderr, "%s\n", k2rt_last_error());
  else
    printf("hidden_size %" PRId64 "\n", info.hidden_size);
  k2rt_close(model);
  return code;
}
