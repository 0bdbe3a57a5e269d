%:define PASTE(a, b) a %:%: b
%:define TAIL x<:
__global__ void digraphs(int *z, int *x) <%
  int r<:4:> = 0 ... 4;
  int t<:2, 4:> = r<:newaxis, ::> + PASTE(1, 0);
  if (r<:+:> == 6) <%
    *(z + r) = t<:+, ::> * 3%2;
  %>
%>
