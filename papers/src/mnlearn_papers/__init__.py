"""Published experiments and the accuracy benchmark: one file per paper, its published figures beside ours."""
