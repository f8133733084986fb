"""What lecturers and authors run: hand out, grade, execute; knows no exercise."""
