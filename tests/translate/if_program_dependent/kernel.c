void f(int *Y) {
  int pid = get_program_id(0);
  int r[4] = pid * 4 + 0 ... 4;
  if (pid == 0)
    *(Y + r) = r;
  else if (pid == get_num_programs(0) - 1)
    *(Y + r) = -r;
  else
    *(Y + r) = 100;
}
