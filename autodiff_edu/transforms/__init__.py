"""Functions of functions: gradients, Jacobians, Hessians and products of plain functions, each on its own tape."""
