void f(int *Y, int n) {
  int pid = get_program_id(0);
  if (pid >= n)
    return;
  *(Y + pid) = 1;
  if (pid == 1) {
    *(Y + pid) = 2;
    return;
  } else if (pid == 2)
    return;
  *(Y + pid) += 10;
  return;
}
