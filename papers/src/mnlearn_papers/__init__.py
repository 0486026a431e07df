"""Science about mnlearn: published experiments beside ours, accuracy and speed, and an optimiser that learns networks.

One file per paper holds its experiments and published figures.
"""
