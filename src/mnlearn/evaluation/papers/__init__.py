"""The published experiments, each with its published figures beside ours."""
