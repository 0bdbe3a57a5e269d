"""What changes no result and makes kernels faster: each of these could be left out."""
