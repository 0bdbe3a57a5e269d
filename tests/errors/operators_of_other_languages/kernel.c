__global__ void pick(float* X, int n) {
  if (n =< 4) *X = 1;
  if (n => 4) *X = 1;
  if (n <> 4) *X = 1;
  if (n === 4) *X = 1;
  if (not n) *X = 1;
}
