/*===- k2rt.h - C interface of the runtime ----------------------------------===
 *
 * An artifact that k2c wrote, on a device, with the weights of a checkpoint and
 * a paged cache for some sequences:
 *
 *   k2rt_model *model = NULL;
 *   const int64_t room[] = {32};
 *   if (k2rt_open("k2.art", "sim", "model", &model) ||
 *       k2rt_bind_weights(model, "checkpoint") ||
 *       k2rt_open_cache(model, room, 1))
 *     fprintf(stderr, "%s\n", k2rt_last_error());
 *
 * Results: every function that returns int gives K2RT_OK or says in
 * k2rt_last_error() what was wrong. No exception leaves a function.
 *
 * Threads: a model is used by one thread at a time; a call that finds another
 * one at work is refused with K2RT_INPUT and changes nothing. Different models
 * may be used by different threads. k2rt_last_error() is per thread. A step has
 * ended when k2rt_step() returns; arrays that were passed in are not needed
 * afterwards.
 *
 *===------------------------------------------------------------------------===*/
#ifndef RUNTIME_INCLUDE_K2RT_K2RT_H
#define RUNTIME_INCLUDE_K2RT_K2RT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  K2RT_OK = 0,
  K2RT_INPUT = 1, /* a file, an argument or the order of calls is wrong */
  K2RT_DEVICE = 2 /* the device failed; the model takes no more steps */
};

typedef struct k2rt_model k2rt_model;

typedef struct k2rt_info {
  int64_t hidden_size, num_layers, vocab_size, max_positions, page_size;
  int64_t rope_pairs; /* columns of rope_cos and rope_sin */
} k2rt_info;

/* The new tokens of a step: those of all sequences, one after the other. Zero
 * the struct first: members may be added. */
typedef struct k2rt_step_input {
  const int64_t *lengths;   /* new tokens of every sequence; may be 0 */
  size_t num_sequences;     /* as in k2rt_open_cache */
  const int32_t *token_ids; /* of entry "model", else NULL */
  const uint16_t *x0;       /* bf16 [tokens, hidden_size] of entry "stack" */
  const int32_t *positions; /* NULL: counted from the cached length */
  const float *rope_cos;    /* [tokens, rope_pairs]; NULL: from positions */
  const float *rope_sin;
  /* [tokens, S], S being the largest cached + new length of a sequence: what is
   * added to the score of a token (row) and a key of its sequence (column), in
   * place of causality. NULL: causality. */
  const float *mask;
} k2rt_step_input;

/* What the latest failed call of this thread had against it; never NULL. */
const char *k2rt_last_error(void);

/* Opens an artifact on a device ("sim", "cuda", "cuda:N") for one of its
 * entries ("model": ids to logits; "stack": x0 to x_L). */
int k2rt_open(const char *artifact, const char *device, const char *entry,
              k2rt_model **out);

/* Frees everything. NULL is allowed. */
void k2rt_close(k2rt_model *model);

int k2rt_get_info(const k2rt_model *model, k2rt_info *out);

/* Loads the weights that the entry reads from the safetensors files of a
 * folder. */
int k2rt_bind_weights(k2rt_model *model, const char *folder);

/* Makes an empty cache with room for capacities[i] tokens of sequence i, in
 * place of the one before. */
int k2rt_open_cache(k2rt_model *model, const int64_t *capacities,
                    size_t num_sequences);

/* Runs the entry on new tokens, which join the cache. */
int k2rt_step(k2rt_model *model, const k2rt_step_input *input);

/* Copies a result of the latest step as float32 [tokens, width]: "x", the
 * residual stream after the last block (width hidden_size), or "logits"
 * (vocab_size). `count` must be tokens * width. */
int k2rt_read(k2rt_model *model, const char *name, float *out, size_t count);

#ifdef __cplusplus
}
#endif

#endif /* RUNTIME_INCLUDE_K2RT_K2RT_H */
