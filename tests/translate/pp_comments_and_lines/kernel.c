#pragma once
#define BOTH(a, b) \
  (a) + \
  (b)
void f(float *X, /* in
                    and */ float *Y) {  // out
  int r[T] = 0 ... T;
  #if T == 16 // sixteen
  # define OFFSET 1
    # else nothing
  # define OFFSET 2
  #endif T
#line 100 "other.c"
  *(Y + r) = BOTH(*(X + r), OFF\
SET);
}
