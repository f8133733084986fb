"""Questions of the course and of drills for learning platforms: GIFT for Moodle, QTI for Canvas."""
