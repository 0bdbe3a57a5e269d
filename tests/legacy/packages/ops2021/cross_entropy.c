// Loss of a row of scores for one right answer. Forward leaves the probabilities of the row in memory, and
// backward turns them into the gradient where they stand.

#ifndef WIDTH
#error "a row needs a WIDTH"
#endif
#define COLUMNS (0 ... WIDTH)

typedef float row[WIDTH];

__global__ void forward(TYPE *scores, TYPE *probs, long *answers __readonly, TYPE *loss,
                        int n __multipleof(N_DIV)) {
  int i = get_program_id(0);
  bool inside[WIDTH] = COLUMNS < n;
  row s = inside ? *(scores + i * n + COLUMNS) : -INFINITY;
  s -= s[max];
  float total = exp(s)[+];
  *?(inside)(probs + i * n + COLUMNS) = exp(s) / total;
  // one element of what was stored just now
  float p = *(probs + i * n + *(answers + i));
  *(loss + i) = -log(p);
}

__global__ void backward(TYPE *probs, long *answers __readonly, TYPE *dloss, int n __multipleof(N_DIV)) {
  int i = get_program_id(0);
  bool inside[WIDTH] = COLUMNS < n;
  TYPE *pp[WIDTH] = probs + i * n + COLUMNS;
  bool right[WIDTH] = COLUMNS == *(answers + i);
  *?(inside) pp = (*?(inside) pp - (row)right) * *(dloss + i);
}
