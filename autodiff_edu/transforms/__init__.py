"""Functions to functions: gradients, Jacobians, Hessians and products of plain functions, each on a tape of its own."""
