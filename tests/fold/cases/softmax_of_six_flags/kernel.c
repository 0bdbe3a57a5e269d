__global__ void NAME(TYPE *X __aligned(16), float scale, int *LUT __readonly,
                     TYPE *RPE __readonly, TYPE *KEYS __readonly, TYPE *PAIRS __readonly,
                     int batch_x, int head_rpe, int row_rpe, int batch_keys, int row_pairs) {
  // this program's row of numbers, and the row of blocks that it runs through
  int line = get_program_id(0) / BLOCK;
  int within = get_program_id(0) % BLOCK;
  int batch = get_program_id(1);
  int count = *(LUT + line * 4);
  int *list = LUT + *(LUT + line * 4 + 1);
  int row = *(LUT + line * 4 + 2) * BLOCK + within;
  int head = *(LUT + line * 4 + 3);
  // element t of the row stands in the block number t / BLOCK of the list
  int t[TN] = 0 ... TN;
  bool check[TN] = t / BLOCK < count;
  int place[TN] = check ? t / BLOCK * 2 : 0;
  int block[TN] = *(list + place);
  int column[TN] = *(list + place + 1) * BLOCK + t % BLOCK;
  TYPE *px[TN] = X + batch * batch_x + (block * BLOCK + within) * BLOCK + t % BLOCK;
  float y[TN] = check ? *px : -INFINITY;
#ifdef APPLY_SCALE
  y = y * scale;
#endif
#ifdef APPLY_RPE
  y += check ? *(RPE + head * head_rpe + row * row_rpe + column) : 0;
#endif
#ifdef APPLY_KEYS
  TYPE key[TN] = check ? *(KEYS + batch * batch_keys + column) : -INFINITY;
#ifdef KEYS_MUL
  key = key == 0 ? (TYPE[TN])-INFINITY : 0;
#endif
  y += key;
#endif
#ifdef APPLY_PAIRS
  TYPE pair[TN] = check ? *(PAIRS + row * row_pairs + column) : -INFINITY;
#ifdef PAIRS_MUL
  pair = pair == 0 ? (TYPE[TN])-INFINITY : 0;
#endif
  y += pair;
#endif
  y = check ? y : -F32_INFINITY;
  y = exp(y - y[max]);
  *?(check) px = y / y[+];
}
