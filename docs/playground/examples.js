// The examples to pick. Each is a text and its defines; a list of numbers is a sweep.

import { DOT } from "./dot.js"; // tools/playground.py writes it, from examples/dot.py

export const EXAMPLES = [
  {
    name: "Vector add",
    defines: [["TILE", "1024"]],
    text: `__global__ void add(float *x, float *y, float *z __noalias, int n) {
  // one block per program, the last one ragged
  int off[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  bool check[TILE] = off < n;
  *?(check) (z + off) = *?(check) (x + off) + *?(check) (y + off);
}
`,
  },
  {
    name: "Row softmax",
    defines: [["TYPE", "half"], ["TN", "256"]],
    text: `__global__ void softmax(TYPE *Y __noalias, TYPE *X, int n, int ldx) {
  int row = get_program_id(0);
  int rn[TN] = 0 ... TN;
  bool inside[TN] = rn < n;
  // elements outside vanish in the exponential
  float x[TN] = inside ? *(X + row * ldx + rn) : -INFINITY;
  float e[TN] = exp(x - x[max]);
  *?(inside) (Y + row * n + rn) = e / e[+];
}
`,
  },
  {
    name: "Matrix product, 2019",
    defines: [["TYPE", "half"], ["TM", "64, 128"], ["TN", "64, 128"], ["TK", "32"]],
    text: DOT,
  },
  {
    name: "Bias and ReLU, by #if",
    defines: [["TILE", "128"], ["RELU", "0, 1"]],
    text: `__global__ void bias(float *z __noalias, float *x, float *b, int n) {
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  float v[TILE] = *?(i < n) (x + i) + *b;
#if RELU
  v = max(v, (float)0);
#endif
  *?(i < n) (z + i) = v;
}
`,
  },
  {
    name: "A sum under a lock",
    defines: [["TILE", "128"]],
    text: `__global__ void add_all(float *sum, float *x, int *lock, int n) {
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  float part = (*?(i < n) (x + i))[+];
  // one program at a time
  for (int held = 1; held == 1; held = atomic_cas(lock, 0, 1));
  *sum = *sum + part;
  atomic_xchg(lock, 0);
}
`,
  },
  {
    name: "Three mistakes",
    defines: [["TM", "32"], ["TN", "64"]],
    text: `__global__ void scale(float *z, float *x, float s, int M, int ld) {
  int rm[TM] = get_program_id(0) * TM + 0 ... TM;
  int rn[TN] = get_program_id(0) * TM + 0 ... TM;
  float v[TM, TN] = *(x + rm[:, newaxis] * ld + rn);
  *(z + rm * ldz) = v * S;
}
`,
  },
];
