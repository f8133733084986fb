"""The checks of the exercises, one file per chapter; a file `wrong_NN.py` holds known wrong answers and their hints."""
