enum { ZERO, FOUR = 4, FIVE, TILE = FOUR * 4 };
enum mode { ADD, SUB = -1 };
void f(float *X, float *Y, int how) {
  int r[TILE] = ZERO ... TILE;
  float x[TILE] = *(X + r);
  if (how == SUB)
    *(Y + r) = x - FIVE;
  else if (how == ADD)
    *(Y + r) = x;
}
